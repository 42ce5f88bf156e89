"""Trims published OpenAPI files of the Orchestration Cluster REST API to the wire facts that the gateway needs.

    python3 trim.py openapi-8.9.json openapi-8.10.json > contract.json
    python3 trim.py --answers openapi-8.9.json > answers-8.9.json
    python3 trim.py --answers openapi-8.10.json > answers-8.10.json

The first is of the release that is served as a whole; of the second, `release.json` says what is not served yet, and
which of its members schemas have already. `clients.json` adds what released clients know beyond both. Answers of a
release are those that it has published, for tests alone.
README.md in this folder describes the result.
"""

import json
import pathlib
import sys
from urllib.parse import urlsplit

KEEP = ("pattern", "minLength", "maxLength", "minimum", "maximum", "enum", "maxItems", "minItems", "uniqueItems")
METHODS = ("get", "post", "put", "patch", "delete")
FORMATS = ("int32", "int64", "date-time", "binary")

# What the engine demands beyond the published contract: (schema, property, keyword, value).
DEMANDS = [
    ("JobActivationRequest", "type", "minLength", 1),
    ("JobActivationRequest", "timeout", "minimum", 1),
    ("JobActivationRequest", "maxJobsToActivate", "minimum", 1),
    ("JobErrorRequest", "errorCode", "minLength", 1),
    ("JobChangeset", "retries", "minimum", 1),
    ("JobFailRequest", "retryBackOff", "minimum", 0),
    ("MessagePublicationRequest", "name", "minLength", 1),
    ("MessagePublicationRequest", "timeToLive", "minimum", 0),
    ("MessageCorrelationRequest", "name", "minLength", 1),
    ("ExpressionEvaluationRequest", "expression", "minLength", 1),
    ("ClockPinRequest", "timestamp", "minimum", 0),
    ("OffsetPagination", "limit", "maximum", 10000),
]

# The same of users, groups and the like: IDs, names for people, longer texts.
MEMBER_ID = {"pattern": "^[A-Za-z0-9_~@.+-]+$", "minLength": 1, "maxLength": 256}
USERNAME = {"pattern": "^[A-Za-z0-9_@.+-]+$", "minLength": 1, "maxLength": 256}
NAME = {"minLength": 1, "maxLength": 1024}
TEXT = {"maxLength": 8192}
for schema, properties in {
    "UserRequest": {"username": USERNAME, "password": NAME, "name": TEXT, "email": TEXT},
    "UserUpdateRequest": {"password": {"maxLength": 1024}, "name": TEXT, "email": TEXT},
    "GroupCreateRequest": {"groupId": MEMBER_ID, "name": NAME, "description": TEXT},
    "GroupUpdateRequest": {"name": NAME, "description": TEXT},
    "RoleCreateRequest": {"roleId": MEMBER_ID, "name": NAME, "description": TEXT},
    "RoleUpdateRequest": {"name": NAME, "description": TEXT},
    "TenantCreateRequest": {"name": NAME, "description": TEXT},
    "TenantUpdateRequest": {"name": NAME, "description": TEXT},
    "MappingRuleCreateRequest": {"mappingRuleId": MEMBER_ID, "claimName": NAME, "claimValue": NAME, "name": NAME},
    "MappingRuleCreateUpdateRequest": {"claimName": NAME, "claimValue": NAME, "name": NAME},
    "AuthorizationIdBasedRequest": {"ownerId": NAME, "resourceId": NAME, "permissionTypes": {"minItems": 1}},
    "AuthorizationPropertyBasedRequest": {"ownerId": NAME, "permissionTypes": {"minItems": 1}},
}.items():
    DEMANDS += [(schema, name, *demand) for name, demands in properties.items() for demand in demands.items()]

# The same of parameters of the path, by name. What does not exist is not found, whatever its ID; a client just exists.
PARAMETER_DEMANDS = {"clientId": MEMBER_ID}

# Values of any kind, which the published contract calls objects: (schema, property).
ANY_VALUES = [
    ("CreateClusterVariableRequest", "value"),
    ("UpdateClusterVariableRequest", "value"),
]

# Maps whose values may be a text or a number instead of operators, which the published contract of the alpha does not
# say yet: (schema, property).
PLAIN_VALUES = [("ClusterVariableSearchQueryFilterRequest", "metadata")]

# Patterns of keys. IDs in answers are what callers have chosen, under rules of the release in which they did.
KEY_PATTERNS = ("^-?[0-9]+$", "^[0-9]+-[0-9]+$")

def trimmed_file(path):
    """The operations and all schemas of a published file."""
    document = json.load(open(path))
    schemas = document["components"]["schemas"]

    def at(pointer):
        node = document
        for step in pointer.removeprefix("#/").split("/"):
            node = node[step.replace("~1", "/").replace("~0", "~")]
        return node

    def name_of(reference):
        return reference.rsplit("/", 1)[1]

    def merged(schema):
        """A schema with its references and allOf folded into one."""
        if "$ref" in schema:
            return merged(at(schema["$ref"]))
        result = {k: v for k, v in schema.items() if k != "allOf"}
        for part in schema.get("allOf", []):
            for key, value in merged(part).items():
                if key == "properties":
                    result[key] = {**value, **result.get(key, {})}
                elif key == "required":
                    result[key] = sorted(set(value) | set(result.get(key, [])))
                elif key not in ("nullable", "additionalProperties"):
                    result.setdefault(key, value)
        return result

    def trimmed(schema):
        if "$ref" in schema:
            if not schema["$ref"].startswith("#/components/schemas/"):
                return trimmed(at(schema["$ref"]))
            return {"$ref": name_of(schema["$ref"])}
        only = schema.get("allOf", [])
        if len(only) == 1 and "$ref" in only[0] and not schema.get("properties") and "required" not in schema:
            result = {"$ref": name_of(only[0]["$ref"])}
            return {**result, "nullable": True} if schema.get("nullable") else result
        schema = merged(schema)
        result = {}
        if schema.get("nullable"):
            result["nullable"] = True
        if "oneOf" in schema:
            result["oneOf"] = [trimmed(one) for one in schema["oneOf"]]
            if "discriminator" in schema:
                mapping = schema["discriminator"]["mapping"]
                result["discriminator"] = {
                    "property": schema["discriminator"]["propertyName"],
                    "mapping": {value: name_of(ref) for value, ref in mapping.items()},
                }
            if not schema.get("properties"):
                return result
            raise SystemExit(f"oneOf beside properties: {schema}")
        if "type" in schema:
            result["type"] = schema["type"]
        elif "properties" in schema:
            result["type"] = "object"
        if schema.get("format") in FORMATS:
            result["format"] = schema["format"]
        result.update({k: schema[k] for k in KEEP if k in schema})
        if "items" in schema:
            result["items"] = trimmed(schema["items"])
        if "properties" in schema:
            result["properties"] = {k: trimmed(v) for k, v in schema["properties"].items()}
        if schema.get("required"):
            result["required"] = schema["required"]
        additional = schema.get("additionalProperties")
        if isinstance(additional, dict) and additional:
            result["additionalProperties"] = trimmed(additional)
        elif additional is not None and additional is not False:
            result["additionalProperties"] = True
        return result

    def base(path_item):
        server = path_item.get("servers", document["servers"])[0]["url"]
        return urlsplit(server.format(schema="http", host="localhost", port=8080)).path

    operations = []
    for path, path_item in document["paths"].items():
        for method, operation in path_item.items():
            if method not in METHODS:
                continue
            entry = {"id": operation["operationId"], "method": method.upper(), "path": base(path_item) + path}
            parameters = operation.get("parameters", [])
            for place in ("path", "query"):
                found = [
                    {"name": p["name"], "schema": {**trimmed(p["schema"]), **PARAMETER_DEMANDS.get(p["name"], {})}}
                    | ({"required": True} if place == "query" and p.get("required") else {})
                    for p in parameters
                    if p["in"] == place
                ]
                if found:
                    entry[place + "Parameters"] = found
            if "requestBody" in operation:
                ((media, content),) = operation["requestBody"]["content"].items()
                entry["body"] = {"media": media, "schema": trimmed(content.get("schema", {}))}
                if operation["requestBody"].get("required"):
                    entry["body"]["required"] = True
            entry["responses"] = {}
            for status, response in operation["responses"].items():
                if "$ref" in response:
                    response = at(response["$ref"])
                json_content = response.get("content", {}).get("application/json")
                entry["responses"][status] = trimmed(json_content["schema"]) if json_content else None
            operations.append(entry)
    return operations, {name: trimmed(schema) for name, schema in schemas.items()}


def demanding(operations, schemas):
    """The same with what the engine demands of requests."""
    for schema, field, keyword, value in DEMANDS:
        schemas[schema]["properties"][field][keyword] = value
    for schema, field in ANY_VALUES:
        schemas[schema]["properties"][field] = {}
    for schema, field in PLAIN_VALUES:
        # The older file does not have them.
        if one := schemas[schema]["properties"].get(field):
            plain = [{"type": "string"}, {"type": "number"}]
            one["additionalProperties"] = {"oneOf": [*plain, one["additionalProperties"]]}
    return operations, schemas


def take_members(target, source, names):
    """Adds members of the newer schema to the older one: properties, or values of an enumeration."""
    for name in names:
        if name in source.get("properties", {}):
            target["properties"][name] = source["properties"][name]
            if name in source.get("required", []):
                target["required"] = sorted({*target.get("required", []), name})
        elif name in source.get("enum", []):
            target["enum"].append(name)
        else:
            raise SystemExit(f"release.json: {name} is not in {source}")


def served(older, newer, release, clients):
    """The older contract, what is served of the newer one, and the schemas that both need."""
    (operations, schemas), (newer_operations, newer_schemas) = older, newer
    known = {operation["id"] for operation in operations}
    added = [operation for operation in newer_operations if operation["id"] not in known]
    later = {*release["later"]}
    unknown = later - {operation["id"] for operation in added}
    if unknown:
        raise SystemExit(f"release.json: the newer release does not add {sorted(unknown)}")
    operations = operations + [operation for operation in added if operation["id"] not in later]
    schemas = newer_schemas | schemas
    for path, members in release["members"].items():
        name, *properties = path.split(".")
        target, source = schemas[name], newer_schemas[name]
        for step in properties:
            target, source = target["properties"][step], source["properties"][step]
        take_members(target, source, members)
    named = (path for kind in ("renamed", "replaced", "answers", "requests", "values") for path in clients[kind])
    if unknown := [path for path in (*named, *clients["alternatives"]) if not at_path(schemas, path)]:
        raise SystemExit(f"clients.json: there is no {unknown}")
    extend(schemas, clients)
    return operations, schemas


def at_path(schemas, path):
    """The part of a schema that `Name` or `Name.property` means; a release need not have it."""
    name, *properties = path.split(".")
    found = schemas.get(name, {})
    for step in properties:
        found = found.get("properties", {}).get(step, {})
    return found


def extend(schemas, clients):
    """Adds what clients know beyond the published files."""
    for name, shape in clients["schemas"].items():
        schemas.setdefault(name, shape)
    for path, names in clients["renamed"].items():
        target = at_path(schemas, path)
        for member in names.keys() & target.get("properties", {}).keys():
            target["properties"][names[member]] = target["properties"][member]
            if member in target.get("required", []):
                target["required"] = sorted({*target["required"], names[member]})
    for path, names in clients["replaced"].items():
        target = at_path(schemas, path)
        target["properties"] = {names.get(member, member): shape for member, shape in target["properties"].items()}
        target["required"] = [names.get(member, member) for member in target["required"]]
    for kind in ("answers", "requests"):
        for path, members in clients[kind].items():
            if target := at_path(schemas, path):
                target["properties"] |= members
                if kind == "answers":
                    target["required"] = sorted({*target.get("required", []), *members})
    for name in clients["alternatives"]:
        if target := schemas.get(name):
            fields = {member: shape for member, shape in target["properties"].items() if member != "$or"}
            schemas[f"{name}Fields"] = {"type": "object", "properties": fields}
            items = {"$ref": f"{name}Fields"}
            target["properties"] = fields | {"$or": {"nullable": True, "type": "array", "items": items}}
    for path, values in clients["values"].items():
        if target := at_path(schemas, path):
            target["enum"] += values


def answers(published):
    """The answers of a release, as far as they are JSON."""
    operations, schemas = published
    for schema in schemas.values():
        if schema.get("pattern") not in KEY_PATTERNS:
            schema.pop("pattern", None)
    return [{"id": operation["id"], "responses": operation["responses"]} for operation in operations], schemas


def print_used(operations, schemas):
    """Prints operations and the schemas that they use."""
    kept = {}

    def keep(schema):
        if isinstance(schema, dict):
            name = schema.get("$ref")
            if isinstance(name, str) and name not in kept:
                kept[name] = schemas[name]
                keep(kept[name])
            for key, value in schema.items():
                if key != "discriminator":
                    keep(value)
        elif isinstance(schema, list):
            for value in schema:
                keep(value)

    keep({"$ref": "ProblemDetail"})
    keep(operations)

    out = ['{"operations": [']
    out.append(",\n".join("  " + json.dumps(one) for one in operations))
    out.append('], "schemas": {')
    out.append(",\n".join(f"  {json.dumps(name)}: {json.dumps(kept[name])}" for name in sorted(kept)))
    out.append("}}")
    print("\n".join(out))


def beside(name):
    """A file of this folder."""
    return json.loads(pathlib.Path(__file__).with_name(name).read_text())


def main(*arguments):
    match arguments:
        case ("--answers", path):
            print_used(*answers(trimmed_file(path)))
        case (older, newer):
            contracts = [demanding(*trimmed_file(path)) for path in (older, newer)]
            print_used(*served(*contracts, beside("release.json"), beside("clients.json")))


main(*sys.argv[1:])
