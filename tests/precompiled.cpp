// Gives the precompiled headers of the tests a program to belong to.
