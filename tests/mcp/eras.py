"""What an answer of ours must be in each era of MCP, as JSON schemas.

Derived from the specification's schemas of 2024-11-05 to 2026-07-28, and
stricter: theirs leave objects open, ours name every member that we send, so
that a member of another era is seen.  tests/mcp/clients holds our answers
against the official ones.
"""
import functools

import jsonschema

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"

TEXT = {"type": "string"}
FLAG = {"type": "boolean"}
COUNT = {"type": "integer", "minimum": 0}
ID = {"type": ["string", "integer"]}
EMPTY = {"type": "object", "additionalProperties": False}
URI = {"type": "string", "pattern": "^[a-z]+://[^ ]*$"}
BASE64 = {"type": "string", "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"}


def closed(required, **optional):
    """An object of these members and no other."""
    return {"type": "object", "required": sorted(required), "properties": {**required, **optional},
            "additionalProperties": False}


def listed(items):
    return {"type": "array", "items": items}


INFO = closed({"name": TEXT, "version": TEXT}, title=TEXT)
CAPABILITIES = closed({"tools": EMPTY, "resources": EMPTY})
TOOL = closed({"name": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"}, "description": TEXT,
               "inputSchema": {"type": "object", "required": ["type"], "properties": {"type": {"const": "object"}}},
               "annotations": closed({"title": TEXT, "readOnlyHint": FLAG, "destructiveHint": FLAG,
                                      "idempotentHint": FLAG, "openWorldHint": FLAG})}, title=TEXT)
RESOURCE = closed({"uri": URI, "name": TEXT}, title=TEXT, description=TEXT, mimeType=TEXT)
TEMPLATE = closed({"uriTemplate": TEXT, "name": TEXT}, title=TEXT, description=TEXT, mimeType=TEXT)
CONTENTS = {"oneOf": [closed({"uri": URI, "mimeType": TEXT, "text": TEXT}),
                      closed({"uri": URI, "mimeType": TEXT, "blob": BASE64})]}
TEXT_PART = closed({"type": {"const": "text"}, "text": TEXT})
IMAGE_PART = closed({"type": {"const": "image"}, "data": BASE64, "mimeType": {"type": "string", "pattern": "^image/"}})
LINK_PART = closed({"type": {"const": "resource_link"}, "uri": URI, "name": TEXT}, mimeType=TEXT, size=COUNT)


def parts(version):
    """Content of a tool's answer: links came with 2025-06-18."""
    known = [TEXT_PART, IMAGE_PART] + ([LINK_PART] if version >= "2025-06-18" else [])
    return {"type": "array", "minItems": 1, "items": {"oneOf": known}}


def results(version):
    """Method -> its result's members: required, optional."""
    methods = {
        "tools/list": ({"tools": listed(TOOL)}, {}),
        "tools/call": ({"content": parts(version), "isError": FLAG}, {}),
        "resources/list": ({"resources": listed(RESOURCE)}, {}),
        "resources/templates/list": ({"resourceTemplates": listed(TEMPLATE)}, {}),
        "resources/read": ({"contents": {"type": "array", "minItems": 1, "items": CONTENTS}}, {}),
    }
    if version == MODERN:
        methods["server/discover"] = ({"supportedVersions": {"const": [MODERN]}, "capabilities": CAPABILITIES,
                                       "instructions": TEXT}, {})
    else:
        methods["ping"] = ({}, {})
        methods["initialize"] = ({"protocolVersion": {"enum": list(LEGACY)}, "capabilities": CAPABILITIES,
                                  "serverInfo": INFO}, {"instructions": TEXT})
    return methods


OWN_META = {"bailiff/runId": {"type": "string", "pattern": "^r_[0-9a-f]{32}$"},
            "bailiff/auditLeaf": {"type": "string", "pattern": "^([0-9a-f]{64})?$"}}


def result_schema(version, method):
    required, optional = results(version)[method]
    required, optional = dict(required), dict(optional)
    own = OWN_META if method == "tools/call" else {}
    if version == MODERN:
        required["resultType"] = {"const": "complete"}
        required["_meta"] = closed({META + "serverInfo": INFO}, **own)
        if method != "tools/call":
            required["ttlMs"], required["cacheScope"] = COUNT, {"enum": ["public", "private"]}
    elif own:
        optional["_meta"] = closed({}, **own)
    return closed(required, **optional)


ERROR = closed({"code": {"type": "integer"}, "message": {"type": "string", "minLength": 1}}, data={"type": "object"})
NOTIFICATIONS = {
    "notifications/progress": closed({"progressToken": ID, "progress": {"type": "number"}},
                                     total={"type": "number"}, message=TEXT),
    "notifications/subscriptions/acknowledged": closed(
        {"_meta": closed({META + "subscriptionId": ID}), "notifications": {"type": "object"}}),
}


@functools.lru_cache(maxsize=None)
def validator(version, method):
    schema = NOTIFICATIONS[method] if version is None else result_schema(version, method)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


ERRORS = jsonschema.Draft202012Validator(closed({"jsonrpc": {"const": "2.0"}, "error": ERROR}, id=ID))
# Of each era alone: a code of the other would be misread there.
MODERN_CODES, LEGACY_CODES = {-32020, -32021, -32022}, {-32002, -32042}


def must_be(message, version, method):
    """Raise unless 'message' is what a server of 'version' may answer to
    'method' (None: to a line that was no request)."""
    if "method" in message:
        if set(message) != {"jsonrpc", "method", "params"} or message["jsonrpc"] != "2.0":
            raise ValueError("notification %r" % message)
        validator(None, message["method"]).validate(message["params"])
    elif "error" in message:
        ERRORS.validate(message)
        if message["error"]["code"] in (LEGACY_CODES if version == MODERN else MODERN_CODES):
            raise ValueError("a code of another era: %r" % message)
    elif set(message) != {"jsonrpc", "id", "result"} or message["jsonrpc"] != "2.0":
        raise ValueError("answer %r" % str(message)[:300])
    elif method is None:
        raise ValueError("a result that nobody asked for: %r" % str(message)[:300])
    else:
        validator(version, method).validate(message["result"])
