#!/usr/bin/python3
"""site_in_browser.py SITE: pages of the documentation site in a browser, from files, on wide and narrow screens.

Nothing comes from elsewhere, nothing is wider than the screen, equations are drawn, the search finds. Leaves pictures
in SITE-pictures. Ends with 0 where there is no browser: what needs none was tested before.
"""
import pathlib
import shutil
import sys
import tempfile
import time

site = pathlib.Path(sys.argv[1]).resolve()
driver = shutil.which("chromedriver")
if not driver or not shutil.which("chromium"):
    sys.exit(print("without a browser: chromium and chromium-driver are not installed"))
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
except ImportError:
    sys.exit(print("without a browser: python3-selenium is not installed"))

pictures = site.with_name(site.name + "-pictures")
pictures.mkdir(exist_ok=True)
pages = ["index", "docs/walkthrough", "docs/cli/run", "docs/figures", "docs/equations", "docs/cpp", "docs/results"]


def open_browser(profile, width, height):
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     f"--user-data-dir={profile}", f"--window-size={width},{height}"):  # fmt: skip
        options.add_argument(argument)
    browser = webdriver.Chrome(service=Service(driver), options=options)
    # The window of a browser without a screen has a least width; what the page sees has none.
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    return browser


def wait_for(holds, what):
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, f"waited a minute for {what}"
        time.sleep(0.1)


def check_page(browser, page, screen):
    browser.get((site / page).with_suffix(".html").as_uri())
    wait_for(lambda: browser.execute_script("return document.readyState") == "complete", page)
    loaded = browser.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    elsewhere = [name for name in loaded if not name.startswith(("file:", "data:"))]
    assert not elsewhere, f"{page} loads {elsewhere}"
    wide, room = browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= room, f"{page} is {wide} wide on a screen of {room}"
    if page == "docs/equations":
        drawn = len(browser.find_elements(By.CSS_SELECTOR, ".math .katex"))
        marked = len(browser.find_elements(By.CSS_SELECTOR, ".math"))
        wrong = [each.get_attribute("title") for each in browser.find_elements(By.CSS_SELECTOR, ".katex-error")]
        assert marked and drawn == marked and not wrong, f"{drawn} of {marked} equations are drawn; {wrong}"
    browser.save_screenshot(str(pictures / f"{page.replace('/', '-')}-{screen}.png"))


def check_search(browser):
    browser.get((site / "search.html").as_uri() + "?q=quantile")
    found = lambda: browser.find_elements(By.CSS_SELECTOR, "#search-results li a")
    wait_for(found, "results of the search")
    assert any("equations" in each.get_attribute("href") for each in found()), "the search does not find equations"


for screen, width, height in (("desktop", 1400, 900), ("phone", 390, 844)):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = open_browser(profile, width, height)
        try:
            for page in pages:
                check_page(browser, page, screen)
            check_search(browser)
        finally:
            browser.quit()
print(f"{len(pages)} pages on two screens")
