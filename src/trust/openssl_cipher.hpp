#pragma once

#include <openssl/evp.h>

#include <memory>

namespace sotto {

using OpensslCipher = std::unique_ptr<EVP_CIPHER, decltype(&EVP_CIPHER_free)>;
/// OpenSSL wipes a context's copy of the key on release.
using OpensslContext = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

/// Null if this machine's OpenSSL lacks it. Slow: keep the result in a static variable.
inline OpensslCipher openssl_cipher(const char* name) {
    return {EVP_CIPHER_fetch(nullptr, name, nullptr), EVP_CIPHER_free};
}
inline OpensslContext openssl_context() { return {EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free}; }

}  // namespace sotto
