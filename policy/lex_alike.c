/*
 * policy/lex_alike.c - letters that NFKC makes one to three ASCII ones; those of
 * whole alphabets are in lex_fold.c.  Linked by bailiff-screen and
 * bailiff-policy; data only.  Made of Unicode 14: every character that may stand
 * in a name of Python's (XID_Continue).  U+2167 and U+2177 (VIII, viii) are left
 * out, being longer in ASCII.
 */
#include "policy/lex_fold.h"

/* clang-format off */
const struct lex_alike lex_alikes[] = {
	{ 0xaa, "a" }, { 0xba, "o" }, { 0x132, "IJ" }, { 0x133, "ij" },
	{ 0x17f, "s" }, { 0x1c7, "LJ" }, { 0x1c8, "Lj" }, { 0x1c9, "lj" },
	{ 0x1ca, "NJ" }, { 0x1cb, "Nj" }, { 0x1cc, "nj" }, { 0x1f1, "DZ" },
	{ 0x1f2, "Dz" }, { 0x1f3, "dz" }, { 0x2b0, "h" }, { 0x2b2, "j" },
	{ 0x2b3, "r" }, { 0x2b7, "w" }, { 0x2b8, "y" }, { 0x2e1, "l" },
	{ 0x2e2, "s" }, { 0x2e3, "x" }, { 0x1d2c, "A" }, { 0x1d2e, "B" },
	{ 0x1d30, "D" }, { 0x1d31, "E" }, { 0x1d33, "G" }, { 0x1d34, "H" },
	{ 0x1d35, "I" }, { 0x1d36, "J" }, { 0x1d37, "K" }, { 0x1d38, "L" },
	{ 0x1d39, "M" }, { 0x1d3a, "N" }, { 0x1d3c, "O" }, { 0x1d3e, "P" },
	{ 0x1d3f, "R" }, { 0x1d40, "T" }, { 0x1d41, "U" }, { 0x1d42, "W" },
	{ 0x1d43, "a" }, { 0x1d47, "b" }, { 0x1d48, "d" }, { 0x1d49, "e" },
	{ 0x1d4d, "g" }, { 0x1d4f, "k" }, { 0x1d50, "m" }, { 0x1d52, "o" },
	{ 0x1d56, "p" }, { 0x1d57, "t" }, { 0x1d58, "u" }, { 0x1d5b, "v" },
	{ 0x1d62, "i" }, { 0x1d63, "r" }, { 0x1d64, "u" }, { 0x1d65, "v" },
	{ 0x1d9c, "c" }, { 0x1da0, "f" }, { 0x1dbb, "z" }, { 0x2071, "i" },
	{ 0x207f, "n" }, { 0x2090, "a" }, { 0x2091, "e" }, { 0x2092, "o" },
	{ 0x2093, "x" }, { 0x2095, "h" }, { 0x2096, "k" }, { 0x2097, "l" },
	{ 0x2098, "m" }, { 0x2099, "n" }, { 0x209a, "p" }, { 0x209b, "s" },
	{ 0x209c, "t" }, { 0x2102, "C" }, { 0x210a, "g" }, { 0x210b, "H" },
	{ 0x210c, "H" }, { 0x210d, "H" }, { 0x210e, "h" }, { 0x2110, "I" },
	{ 0x2111, "I" }, { 0x2112, "L" }, { 0x2113, "l" }, { 0x2115, "N" },
	{ 0x2119, "P" }, { 0x211a, "Q" }, { 0x211b, "R" }, { 0x211c, "R" },
	{ 0x211d, "R" }, { 0x2124, "Z" }, { 0x2128, "Z" }, { 0x212a, "K" },
	{ 0x212c, "B" }, { 0x212d, "C" }, { 0x212f, "e" }, { 0x2130, "E" },
	{ 0x2131, "F" }, { 0x2133, "M" }, { 0x2134, "o" }, { 0x2139, "i" },
	{ 0x2145, "D" }, { 0x2146, "d" }, { 0x2147, "e" }, { 0x2148, "i" },
	{ 0x2149, "j" }, { 0x2160, "I" }, { 0x2161, "II" }, { 0x2162, "III" },
	{ 0x2163, "IV" }, { 0x2164, "V" }, { 0x2165, "VI" }, { 0x2166, "VII" },
	{ 0x2168, "IX" }, { 0x2169, "X" }, { 0x216a, "XI" }, { 0x216b, "XII" },
	{ 0x216c, "L" }, { 0x216d, "C" }, { 0x216e, "D" }, { 0x216f, "M" },
	{ 0x2170, "i" }, { 0x2171, "ii" }, { 0x2172, "iii" }, { 0x2173, "iv" },
	{ 0x2174, "v" }, { 0x2175, "vi" }, { 0x2176, "vii" }, { 0x2178, "ix" },
	{ 0x2179, "x" }, { 0x217a, "xi" }, { 0x217b, "xii" }, { 0x217c, "l" },
	{ 0x217d, "c" }, { 0x217e, "d" }, { 0x217f, "m" }, { 0x2c7c, "j" },
	{ 0x2c7d, "V" }, { 0xa7f2, "C" }, { 0xa7f3, "F" }, { 0xa7f4, "Q" },
	{ 0xfb00, "ff" }, { 0xfb01, "fi" }, { 0xfb02, "fl" }, { 0xfb03, "ffi" },
	{ 0xfb04, "ffl" }, { 0xfb05, "st" }, { 0xfb06, "st" }, { 0xfe33, "_" },
	{ 0xfe34, "_" }, { 0xfe4d, "_" }, { 0xfe4e, "_" }, { 0xfe4f, "_" },
	{ 0xff3f, "_" }, { 0x107a5, "q" }, { 0x1fbf0, "0" }, { 0x1fbf1, "1" },
	{ 0x1fbf2, "2" }, { 0x1fbf3, "3" }, { 0x1fbf4, "4" }, { 0x1fbf5, "5" },
	{ 0x1fbf6, "6" }, { 0x1fbf7, "7" }, { 0x1fbf8, "8" }, { 0x1fbf9, "9" },
};
/* clang-format on */
const size_t lex_n_alikes = sizeof(lex_alikes) / sizeof(lex_alikes[0]);
