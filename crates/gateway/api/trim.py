"""Trims a published OpenAPI file of the Orchestration Cluster REST API to the wire facts that the gateway needs.

    python3 trim.py openapi.json > contract.json

README.md in this folder describes the result.
"""

import json
import sys

KEEP = ("pattern", "minLength", "maxLength", "minimum", "maximum", "enum", "maxItems", "minItems", "uniqueItems")
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


def main(path):
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

    operations, needed = [], []

    def use(schema):
        needed.append(schema)
        return schema

    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            entry = {"id": operation["operationId"], "method": method.upper(), "path": path}
            parameters = operation.get("parameters", [])
            for place in ("path", "query"):
                found = [
                    {"name": p["name"], "schema": use({**trimmed(p["schema"]), **PARAMETER_DEMANDS.get(p["name"], {})})}
                    | ({"required": True} if place == "query" and p.get("required") else {})
                    for p in parameters
                    if p["in"] == place
                ]
                if found:
                    entry[place + "Parameters"] = found
            if "requestBody" in operation:
                ((media, content),) = operation["requestBody"]["content"].items()
                entry["body"] = {"media": media, "schema": use(trimmed(content.get("schema", {})))}
                if operation["requestBody"].get("required"):
                    entry["body"]["required"] = True
            entry["responses"] = {}
            for status, response in operation["responses"].items():
                if "$ref" in response:
                    response = at(response["$ref"])
                json_content = response.get("content", {}).get("application/json")
                entry["responses"][status] = use(trimmed(json_content["schema"])) if json_content else None
            operations.append(entry)

    kept = {}

    def keep(schema):
        if isinstance(schema, dict):
            if isinstance(schema.get("$ref"), str) and schema["$ref"] not in kept:
                kept[schema["$ref"]] = None
                kept[schema["$ref"]] = trimmed(schemas[schema["$ref"]])
                keep(kept[schema["$ref"]])
            for key, value in schema.items():
                if key != "discriminator":
                    keep(value)
        elif isinstance(schema, list):
            for value in schema:
                keep(value)

    keep({"$ref": "ProblemDetail"})
    for schema in needed:
        keep(schema)
    for schema, field, keyword, value in DEMANDS:
        kept[schema]["properties"][field][keyword] = value
    for schema, field in ANY_VALUES:
        kept[schema]["properties"][field] = {}

    out = ['{"operations": [']
    out.append(",\n".join("  " + json.dumps(one) for one in operations))
    out.append('], "schemas": {')
    out.append(",\n".join(f"  {json.dumps(name)}: {json.dumps(kept[name])}" for name in sorted(kept)))
    out.append("}}")
    print("\n".join(out))


main(sys.argv[1])
