"""Reads requests as a published description of an API has them, with openapi-core."""

import copy
import json
import re
import subprocess
import urllib.parse

import qs_codec
from openapi_core import Config, OpenAPI
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
HOST = "http://published.test"
PLACE = re.compile(r"^\{([^*:}]+)\*?(?::[a-zA-Z]+(?:=.*)?)?\}$")
DEEP = qs_codec.DecodeOptions(depth=30)
IDENTITY = dict.fromkeys(("date", "date-time", "uuid", "byte", "binary", "time"), lambda text: text)


class Request:
    """A request as openapi-core wants it."""

    def __init__(self, method, url, headers, body):
        path, _, query = url.partition("?")
        # Letters that would end a part of the path stay encoded.
        parts = re.split("(?i)(%2f|%23|%3f)", path)
        path = "".join(part if at % 2 else urllib.parse.unquote(part) for at, part in enumerate(parts))
        self.host_url, self.path, self.method = HOST, path, method.lower()
        self.query = ImmutableMultiDict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.headers = Headers(headers)
        cookies = (self.headers.get("cookie") or "").split("; ")
        pairs = [cookie.split("=", 1) for cookie in cookies if "=" in cookie]
        cookies = ImmutableMultiDict([(name, urllib.parse.unquote(value)) for name, value in pairs])
        self.parameters = RequestParameters(query=self.query, header=self.headers, cookie=cookies)
        self.content_type = self.headers.get("content-type", "")
        self.body = body or None


def node(modules, script, *arguments):
    """What a script prints in Node.js, with the modules of this folder."""
    command = ["node", "-e", script, *map(str, arguments)]
    done = subprocess.run(command, cwd=modules, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def loaded(file, modules):
    """The document of a file, read by YAML 1.2."""
    text = file.read_text()
    if text.lstrip().startswith("{"):
        return json.loads(text)
    script = "const fs=require('fs');const o={maxAliasCount:-1,uniqueKeys:false};" \
        "console.log(JSON.stringify(require('yaml').parse(fs.readFileSync(process.argv[1],'utf8'),o)))"
    return node(modules, script, file.resolve())


def as_openapi(document, file, modules):
    """The document as OpenAPI 3, by a converter that is not toolyard's."""
    if "swagger" in document:
        script = "const fs=require('fs');const d=JSON.parse(fs.readFileSync(process.argv[1],'utf8'));" \
            "require('swagger2openapi').convertObj(d,{patch:true,warnOnly:true,direct:true})" \
            ".then(o=>console.log(JSON.stringify(o)))"
        return node(modules, script, file.resolve())
    if isinstance(document.get("item"), list):
        script = "const fs=require('fs');const d=fs.readFileSync(process.argv[1],'utf8');" \
            "import('@scalar/postman-to-openapi').then(m=>console.log(JSON.stringify(m.convert(d))))"
        return node(modules, script, file.resolve())
    return document


def count_requests(item):
    """The requests of a Postman collection."""
    return sum(count_requests(inner) for inner in item["item"]) if "item" in item else 1


def named(path):
    """A path with numbers in place of names, since two converters may name its parts differently."""
    return re.sub(r"\{[^}]*\}|:[^/]+", "{}", path.split("#")[0].split("?")[0]).rstrip("/")


class Checker:
    """The operations of one published file."""

    def __init__(self, file, modules):
        document = loaded(file, modules)
        self.is_postman = isinstance(document.get("item"), list)
        published = document
        document = as_openapi(document, file, modules)
        # The operation at hand becomes the only path, and pointers into all paths still lead there.
        document = json.loads(json.dumps(document).replace('"#/paths/', '"#/x-paths/'))
        self.paths = document["x-paths"] = document.pop("paths")
        self.document = document
        self.inline(document)
        self.whole(document)
        for name in ("security", "servers", "webhooks"):
            document.pop(name, None)
        self.operations = [
            (method.upper(), path)
            for path, item in self.paths.items() if path.startswith("/")
            for method in self.resolved(item) if method in METHODS
        ]
        if self.is_postman:
            self.operations = range(count_requests(published))

    def inline(self, part):
        """Puts alternatives that a pointer leads to into its place, since they may move."""
        if isinstance(part, dict) and "/oneOf/" in str(part.get("$ref")):
            target = self.resolved(part)
            part.clear()
            part.update(target)
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            self.inline(inner)

    def whole(self, part):
        """Puts the properties that a schema refers to as a whole into their place, which openapi-core does not read."""
        properties = part.get("properties") if isinstance(part, dict) else None
        if isinstance(properties, dict) and isinstance(properties.get("$ref"), str):
            part["properties"] = self.resolved(properties)
        # An object may fit several open alternatives, whatever its author meant.
        parts = part.get("oneOf") if isinstance(part, dict) else None
        parts = [self.resolved(one) for one in parts] if isinstance(parts, list) else []
        if sum(one.get("type") == "object" and "required" not in one for one in parts) > 1:
            part["anyOf"] = part.pop("oneOf")
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            self.whole(inner)

    def resolved(self, part):
        while "$ref" in part:
            target = self.document
            for name in part["$ref"][2:].split("/"):
                name = urllib.parse.unquote(name).replace("~1", "/").replace("~0", "~")
                target = target[int(name)] if isinstance(target, list) else target[name]
            part = target
        return part

    def alone(self, method, path):
        """The document with this operation alone, the fixed query of its path as parameters."""
        if path not in self.paths and self.is_postman:
            same = [known for known in self.paths if named(known) == named(path)]
            path = next((known for known in same if method in self.paths[known]), path)
        item = self.resolved(self.paths[path])
        operation = copy.copy(item[method])
        for name in ("security", "servers", "callbacks"):
            operation.pop(name, None)
        parameters = [self.resolved(one) for one in operation.get("parameters", [])]
        own = {(one["in"], one["name"]) for one in parameters}
        shared = [self.resolved(one) for one in item.get("parameters", [])]
        parameters += [one for one in shared if (one["in"], one["name"]) not in own]
        clean, _, query = path.split("#")[0].partition("?")
        for name, value in urllib.parse.parse_qsl(query, keep_blank_values=True):
            parameters = [one for one in parameters if one["name"] != name]
            if "{" not in value:
                schema = {"type": "string", "enum": [value]}
                parameters.append({"name": name, "in": "query", "required": True, "schema": schema})
        operation["parameters"] = parameters
        return {**self.document, "servers": [{"url": HOST}], "paths": {clean: {method: operation}}}

    def check(self, source, request, arguments):
        """What is wrong with a request; nothing, if it is what the file describes with these arguments."""
        method, path = source["operation"].split(" ", 1)
        verb, url, headers, body = request
        if verb != method:
            return f"the method is {verb}"
        try:
            alone = self.alone(method.lower(), path)
            config = Config(spec_validator_cls=None, extra_format_unmarshallers=IDENTITY)
            read = OpenAPI.from_dict(alone, config=config).unmarshal_request(Request(verb, url, headers, body))
        except Exception as error:  # Whatever the library says is the finding.
            cause = error.__cause__ or error.__context__
            more = "; ".join(str(one.message) for one in getattr(cause, "schema_errors", ()))
            return f"{type(error).__name__}: {error} {cause or ''} {more} [{verb} {url} {body[:200]!r}]"
        return self.compare(source, read, request, arguments)

    def compare(self, source, read, request, arguments):
        """Which value is another one than was given."""
        _, url, headers, body = request
        places = re.findall(r"\{([^}]+)\}", source["url"])
        wires = re.findall(r"\{([^}]+)\}", source["operation"].split("#")[0].split("?")[0])
        expected = [("path", wire, "{" + own + "}") for wire, own in zip(wires, places)]
        for place, name in (("query", "query"), ("header", "headers"), ("cookie", "cookies")):
            expected += [(place, wire, text) for wire, text in source.get(name, {}).items()]
        nested = qs_codec.decode(url.partition("?")[2], DEEP)
        for place, wire, text in expected:
            found = PLACE.match(text)
            if not found or found[1] not in arguments:
                continue
            values = {key.lower(): value for key, value in getattr(read.parameters, place).items()}
            given = arguments[found[1]]
            if self.is_postman and place == "header":
                # The converter leaves headers out that are switched off.
                values = {name.lower(): value for name, value in headers}
            if place == "query" and (":deepObject}" in text or wire.lower() not in values):
                # Of the style deepObject openapi-core decodes objects, and neither lists nor texts.
                found_there = nested.get(wire, next(iter(Request("", url, [], b"").query.getlist(wire)), None))
                if isinstance(given, dict) and "*:form}" in text:
                    # Nor does it gather the fields of an object that is exploded.
                    found_there = {name: nested.get(name) for name in given}
                values = {wire.lower(): filled_in(found_there)} if found_there is not None else {}
                given = filled_in(given)
            if wire.lower() not in values and place != "path":
                if given in ([], {}, None):
                    continue
                return f"{place} {wire} is not there [{url}]"
            got = values.get(wire.lower())
            if place == "path" and got is None:
                # The file does not declare this part of its path, or another converter names it differently.
                got = given if urllib.parse.quote(str(given), safe="") in url else None
            if plain(got) != plain(given):
                return f"{place} {wire}: got {got!r}, expected {given!r}"
        return self.compare_body(source, read, body, arguments)

    def compare_body(self, source, read, body, arguments):
        if "body" in source:
            expected = filled(source["body"], arguments)
            if source.get("rest") and "x_more" in arguments:
                expected["x_more"] = arguments["x_more"]
            sent = json.loads(body) if body else None
            if sent != expected and not (expected == {} and sent is None):
                return f"body: got {sent!r}, expected {expected!r}"
        if "text" in source and body.decode() != arguments[PLACE.match(source["text"])[1]]:
            return f"body: got {body!r}"
        if "form" in source:
            # openapi-core leaves the brackets of deepObject in the names of a form's fields.
            got = plain(qs_codec.decode(body.decode(), DEEP))
            for wire, text in source["form"].items():
                found = PLACE.match(text)
                given = arguments.get(found[1]) if found else None
                if given in (None, [], {}):
                    continue
                if ":json}" in text:
                    got[wire] = plain(json.loads(got[wire]))
                given = plain(filled_in(given)) if ":deepObject}" in text else plain(given)
                if got.get(wire) != given and [got.get(wire)] != given:
                    return f"form {wire}: got {got.get(wire)!r}, expected {given!r}"
        return None


def filled_in(value):
    """A value without the empty lists and objects in it, which the style deepObject does not write."""
    if isinstance(value, dict):
        parts = {key: filled_in(one) for key, one in value.items()}
        return {key: one for key, one in parts.items() if one not in ({}, [], None)}
    if isinstance(value, list):
        return [filled_in(one) for one in value]
    return value


def filled(template, arguments):
    """A JSON body with its arguments."""
    if isinstance(template, str):
        found = PLACE.match(template)
        return arguments.get(found[1])
    names = {wire: PLACE.match(text)[1] for wire, text in template.items()}
    return {wire: arguments[own] for wire, own in names.items() if own in arguments}


def plain(value):
    """A value as texts, since an address has nothing else."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return urllib.parse.unquote(str(value))
