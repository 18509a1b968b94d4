/* tests/triton/syntax.c under sanitizers: it stands in the header that the fuzz targets link, tests/fuzz/header.c. */
int syntax_main(int argc, char **argv);
int main(int argc, char **argv) { return syntax_main(argc, argv); }
