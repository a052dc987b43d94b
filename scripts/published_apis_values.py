"""Values for the arguments of a tool, by the JSON Schema of its manifest."""

import itertools

import jsonschema
import rstr

FORMATS = {
    "date": "2024-02-29",
    "date-time": "2024-02-29T12:30:45Z",
    "time": "12:30:45Z",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
    "email": "a@example.org",
    "uri": "https://example.org/a",
    "url": "https://example.org/a",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "hostname": "example.org",
    "byte": "YWJj",
}
# Letters that an address or a form must encode, but none that separates parts in some style.
ODD = "é&=+#"
DEEPEST = 5


class Values:
    """Makes arguments; each text differs from the others."""

    def __init__(self, schema):
        self.schema = schema
        self.numbers = itertools.count(1)

    def arguments(self):
        """All arguments; only the required ones, if all together are not valid."""
        names = list(self.schema.get("properties", {}))
        required = self.schema.get("required", [])
        for chosen in (names, required):
            made = {name: self.value(self.schema["properties"][name], 1) for name in chosen}
            more = self.schema.get("additionalProperties", False)
            if more is not False and chosen is names:
                made["x_more"] = self.value({} if more is True else more, 1)
            if jsonschema.Draft202012Validator(self.schema).is_valid(made):
                return made
        return made

    def value(self, schema, depth):
        """One value of a schema."""
        if not isinstance(schema, dict):
            return "any"
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return next((one for one in schema["enum"] if one != ""), "")
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self.either(schema, key, depth)
        if "allOf" in schema:
            joined = {key: value for key, value in schema.items() if key != "allOf"}
            for part in schema["allOf"]:
                joined = {**part, **joined}
            return self.value(joined, depth)
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((one for one in kind if one != "null"), "null")
        if kind is None:
            kind = "object" if "properties" in schema else "array" if "items" in schema else "string"
        return getattr(self, kind)(schema, depth)

    def either(self, schema, key, depth):
        """The first alternative that makes a valid value."""
        rest = {name: value for name, value in schema.items() if name != key}
        parts = [part for part in schema[key] if part != {"type": "null"}]
        # With all fields a value may fit several alternatives: then only with those that are required.
        for part, depth in [(part, depth) for part in parts] + [(part, DEEPEST + 1) for part in parts]:
            properties = {**rest.get("properties", {}), **part.get("properties", {})}
            joined = {**rest, **part}
            if properties:
                joined["properties"] = properties
                joined["required"] = list({*rest.get("required", []), *part.get("required", [])})
            made = self.value(joined, depth)
            if jsonschema.Draft202012Validator(schema).is_valid(made):
                return made
        for part in parts:
            for name, value in part.get("properties", {}).items():
                only = {name: self.value(value, DEEPEST)}
                if jsonschema.Draft202012Validator(schema).is_valid(only):
                    return only
        return made

    def null(self, *_):
        return None

    def boolean(self, *_):
        return True

    def integer(self, schema, _depth):
        least = schema.get("minimum", schema.get("exclusiveMinimum", 0) + (1 if "exclusiveMinimum" in schema else 0))
        most = schema.get("maximum", schema.get("exclusiveMaximum", 10**9) - (1 if "exclusiveMaximum" in schema else 0))
        step = schema.get("multipleOf", 1)
        wanted = max(int(least), min(int(most), 3))
        return int(-(-wanted // step) * step)

    def number(self, schema, depth):
        if {"minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"} & set(schema):
            return self.integer(schema, depth)
        return 2.5

    def string(self, schema, _depth):
        if "pattern" in schema:
            return self.matching(schema)
        if schema.get("format") in FORMATS:
            return FORMATS[schema["format"]]
        least, most = schema.get("minLength", 0), schema.get("maxLength", 200)
        text = f"v{next(self.numbers)}{ODD}"
        return (text + "x" * max(0, least - len(text)))[:most]

    def matching(self, schema):
        """A text of a pattern, if one is found that is valid."""
        validator = jsonschema.Draft202012Validator(schema)
        known = ["a", "A1", "1", "2", "en", "US", "2024-01-01", "https://example.org", "#a0a0a0", "+15550100"]
        # Lists may want texts that differ.
        at = next(self.numbers) % len(known)
        for text in known[at:] + known[:at]:
            if validator.is_valid(text):
                return text
        for _ in range(200):
            try:
                text = rstr.xeger(schema["pattern"])
            except Exception:  # A pattern that its library cannot turn round.
                return "a"
            # Some published patterns take for ever on long texts.
            if text.isascii() and text.isprintable() and len(text) <= 80 and validator.is_valid(text):
                return text
        return "a"

    def array(self, schema, depth):
        if depth > DEEPEST and not schema.get("minItems"):
            return []
        least, most = schema.get("minItems", 0), schema.get("maxItems", 2)
        count = max(least, min(2, most))
        made = []
        for _ in range(count):
            item = self.value(schema.get("items", {}), depth + 1)
            if not (schema.get("uniqueItems") and item in made):
                made.append(item)
        return made

    def object(self, schema, depth):
        properties = schema.get("properties", {})
        if depth > DEEPEST:
            properties = {name: value for name, value in properties.items() if name in schema.get("required", [])}
        made = {name: self.value(value, depth + 1) for name, value in properties.items()}
        for name in schema.get("required", []):
            made.setdefault(name, "any")
        if "not" in schema or "allOf" in schema:
            # Some fields exclude others.
            validator = jsonschema.Draft202012Validator(schema)
            for name in [name for name in made if name not in schema.get("required", [])]:
                if not validator.is_valid(made):
                    made.pop(name)
        more = schema.get("additionalProperties")
        if not properties and isinstance(more, dict):
            made["k1"] = self.value(more, depth + 1)
        return made
