"""The OpenAPI 3.1 document: clean component names, problems for every refusal."""

from typing import Any, Final

from apiflask import APIFlask
from pydantic import BaseModel

from fpga_bitstream_manager.api.guard import SCHEMES
from fpga_bitstream_manager.api.problems import MEDIA_TYPE
from fpga_common.contract.problem import Problem

PREFIX: Final = "#/components/schemas/"
REPLACED: Final = frozenset({"HTTPError", "ValidationError"})  # APIFlask's own error bodies
SPEC_PATH: Final = "/api/v1/openapi.json"

Json = Any


def configure(app: APIFlask) -> None:
    """Make ``app`` describe itself."""
    app.security_schemes = SCHEMES
    app.config.update(
        AUTO_VALIDATION_ERROR_RESPONSE=False,
        AUTO_AUTH_ERROR_RESPONSE=False,
        AUTO_404_RESPONSE=False,
        AUTO_SERVERS=False,
        AUTO_OPERATION_ID=True,
        DESCRIPTION="Bitstreams, loads and every FPGA of a cluster. Errors are RFC 9457 problems.",
        LICENSE={"name": "Apache-2.0", "identifier": "Apache-2.0"},
    )
    app.schema_name_resolver = component_name
    app.spec_processor(clean)


def component_name(schema: type[BaseModel] | Any) -> str:
    """``Page[Load]`` is ``LoadPage``; every other model keeps its own name."""
    model = schema if isinstance(schema, type) else type(schema)
    generic = getattr(model, "__pydantic_generic_metadata__", None)
    if generic and generic["origin"] is not None:
        return "".join(kind.__name__ for kind in generic["args"]) + str(generic["origin"].__name__)
    return str(model.__name__)


def clean(spec: dict[str, Json] | str) -> dict[str, Json] | str:
    """One component a model, and problem documents on every 4xx and 5xx."""
    if isinstance(spec, str):  # YAML, which is not offered
        return spec
    schemas = _schemas(spec.setdefault("components", {}).get("schemas", {}))
    spec["components"]["schemas"] = schemas
    spec["paths"] = _with_short_references(spec.get("paths", {}))
    for path, methods in spec["paths"].items():
        for operation in methods.values():
            if isinstance(operation, dict):
                _describe_refusals(path, operation)
    return spec


def _schemas(found: dict[str, Json]) -> dict[str, Json]:
    problem = Problem.model_json_schema(ref_template=PREFIX + "{model}")
    schemas: dict[str, Json] = {}
    for name, schema in {**found, Problem.__name__: problem}.items():
        inner = schema.pop("$defs", {})
        for part, definition in {_short(name): schema, **inner}.items():
            schemas.setdefault(part, _with_short_references(definition))
    return {name: schemas[name] for name in sorted(schemas) if name not in REPLACED}


def _describe_refusals(path: str, operation: dict[str, Json]) -> None:
    responses = operation.setdefault("responses", {})
    if operation.get("security"):
        responses.setdefault("401", {"description": "No valid token"})
        responses.setdefault("403", {"description": "The caller may not do this"})
    if operation.get("parameters"):
        responses.setdefault("400", {"description": "A wrong parameter"})
    if "{" in path:
        responses.setdefault("404", {"description": "Nothing of this name"})
    if "requestBody" in operation:
        responses.setdefault("422", {"description": "A wrong body"})
    responses["default"] = {"description": "Any other refusal"}
    for status, response in responses.items():
        if status[0] not in "123":
            response["content"] = {MEDIA_TYPE: {"schema": {"$ref": PREFIX + Problem.__name__}}}


def _short(reference: str) -> str:
    return reference.rsplit("/", 1)[-1].rsplit(".", 1)[-1]


def _with_short_references(node: Json) -> Json:
    if isinstance(node, dict):
        return {
            key: PREFIX + _short(value)
            if key == "$ref" and isinstance(value, str)
            else _with_short_references(value)
            for key, value in node.items()
        }
    if isinstance(node, list):
        return [_with_short_references(item) for item in node]
    return node
