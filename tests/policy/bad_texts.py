"""Texts that are no policy and no request, each with words that say why.

For test_bad_texts.py, which puts them before every reader of bailiff-policy,
and for the service's test_bad_input.py.
"""

MIB = 1 << 20


def of(good):
    """(name, bytes, words of the fault) made of a good text, an object of a
    member a line; of it "version" or "language" is the first."""
    first, rest = good.split(b"\n", 2)[:2]
    if first != b"{" or not rest.rstrip().endswith(b","):
        raise ValueError("a member a line, please")
    key = rest.strip().split(b":")[0]

    def member(text):
        return good.replace(b"{\n", b"{\n" + text + b",\n", 1)

    yield "nothing", b"", "ends too early"
    yield "space alone", b" \n\t ", "ends too early"
    yield "10 MiB of space", b" " * (10 * MIB), "1048576"
    yield ("10 MiB behind a good text", good + b" " * (10 * MIB),
           "1048576")
    yield ("a text of 10 MiB", member(b'"x": "' + b"y" * (10 * MIB) + b'"'),
           "1048576")
    yield "10,000 lists", b"[" * 10000, "nested too deeply"
    yield ("10,000 lists that end", member(
        b'"x": ' + b"[" * 10000 + b"]" * 10000), "nested too deeply")
    yield "10,000 objects", b'{"a":' * 10000, "nested too deeply"
    yield ("100,000 members", member(b",".join(
        b'"k%d":0' % n for n in range(90000))), "too many values")
    yield "a list", b"[]", "expected an object"
    yield "a text", b'"x"', "expected an object"
    yield "null", b"null", "expected an object"
    yield "a key twice", member(key + b": 1"), "duplicate key"
    spelt = b'"\\u%04x' % key[1] + key[2:]
    yield "a key twice, spelt otherwise", member(spelt + b": 1"), "duplicate"
    yield ("a key twice, deeper", member(b'"x": {"a": 1, "a": 2}'),
           "duplicate key")
    yield "a key of another case", member(key.upper() + b": 1"), "unknown key"
    yield "an unknown key", member(b'"hosts": []'), "unknown key"
    yield "an empty key", member(b'"": 1'), "unknown key"
    yield "NUL in a key", member(b'"a\\u0000": 1'), "NUL in a key"
    yield "a key of 300 bytes", member(b'"' + b"k" * 300 + b'": 1'), "too long"
    yield "a NUL byte", member(b'"x": "a\0b"'), "control character"
    yield "a NUL byte behind", good + b"\0", "behind the value"
    yield "a newline in a text", member(b'"x": "a\nb"'), "control character"
    yield "no UTF-8", member(b'"x": "\xff"'), "not UTF-8"
    yield "no UTF-8 in a key", member(b'"\xc3": 1'), "not UTF-8"
    yield "an overlong slash", member(b'"x": "\xc0\xaf"'), "not UTF-8"
    yield "a surrogate in UTF-8", member(b'"x": "\xed\xa0\x80"'), "not UTF-8"
    yield "half a surrogate", member(b'"x": "\\ud800"'), "bad escape"
    yield "surrogates turned", member(b'"x": "\\udc00\\ud800"'), "bad escape"
    yield "a byte order mark", b"\xef\xbb\xbf" + good, "expected a JSON value"
    yield "UTF-16", good.decode().encode("utf-16"), "expected a JSON value"
    yield "a comment of //", b"// why\n" + good, "expected a JSON value"
    yield "a comment of /* */", good.replace(
        b"{\n", b"{\n/* why */", 1), "expected a key"
    yield "a comment of #", good.replace(b"{\n", b"{\n# why\n", 1), \
        "expected a key"
    yield "a comma at the end", good.rstrip()[:-1] + b",}", "expected a key"
    yield "a comma in a list", member(b'"x": [1,]'), "expected a JSON value"
    yield "two commas", member(b'"x": 1,'), "expected a key"
    yield "no comma", member(b'"x": 1 "y": 2'), "expected , or }"
    yield "single quotes", good.replace(key, b"'" + key[1:-1] + b"'"), \
        "expected a key"
    yield "no quotes", good.replace(key, key[1:-1]), "expected a key"
    yield "a half", good[:len(good) // 2], ""
    yield "something behind", good + b"x", "behind the value"
    yield "two texts", good + good, "behind the value"
    for number in (b"01", b"+1", b"0x10", b"NaN", b"Infinity", b"-", b"1.",
                   b".5", b"1e", b"1e+", b"--1"):
        yield "the number " + number.decode(), member(b'"x": ' + number), ""
    yield "10,000 digits", member(b'"x": ' + b"9" * 10000), "number too long"
    yield "words of other languages", member(b'"x": True'), \
        "expected a JSON value"


# Of a number that there is: JSON, but none of ours.
NUMBERS = [b"1e3", b"1E3", b"1e400", b"1.0", b"1.5", b"-0", b"-1", b"0.0",
           b"9223372036854775808", b"18446744073709551616", b"1" * 40, b"null",
           b'"5"', b"true", b"[]", b"{}"]
