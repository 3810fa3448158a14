"""The OpenAPI 3.1 document: clean component names, problems for every refusal."""

from typing import Any, Final

from apiflask import APIFlask
from pydantic import BaseModel

from fpga_bitstream_manager.api.guard import SCHEMES
from fpga_bitstream_manager.api.problems import MEDIA_TYPE
from fpga_common.contract.problem import Problem

PREFIX: Final = "#/components/schemas/"
SPEC_PATH: Final = "/api/v1/openapi.json"

Json = Any


def configure(app: APIFlask) -> None:
    """Make ``app`` describe itself."""
    app.security_schemes = SCHEMES
    app.config.update(
        VALIDATION_ERROR_SCHEMA=Problem,
        HTTP_ERROR_SCHEMA=Problem,
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
    components = spec.setdefault("components", {})
    schemas: dict[str, Json] = {}
    for name, schema in components.get("schemas", {}).items():
        schemas.setdefault(_short(name), _with_short_references(schema))
        for inner, definition in schema.get("$defs", {}).items():
            schemas.setdefault(inner, _with_short_references(definition))
    for schema in schemas.values():
        schema.pop("$defs", None)
    components["schemas"] = dict(sorted(schemas.items()))
    spec["paths"] = _with_short_references(spec.get("paths", {}))
    for path in spec["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict):
                _describe_refusals(operation)
    return spec


def _describe_refusals(operation: dict[str, Json]) -> None:
    reference = {"schema": {"$ref": f"{PREFIX}{Problem.__name__}"}}
    responses = operation.setdefault("responses", {})
    for status, response in responses.items():
        if status[0] in "45":
            response["content"] = {MEDIA_TYPE: reference}
    responses["default"] = {
        "description": "Any other refusal",
        "content": {MEDIA_TYPE: reference},
    }


def _short(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _with_short_references(node: Json) -> Json:
    if isinstance(node, dict):
        return {
            key: PREFIX + _short(value.removeprefix(PREFIX))
            if key == "$ref" and isinstance(value, str) and value.startswith(PREFIX)
            else _with_short_references(value)
            for key, value in node.items()
        }
    if isinstance(node, list):
        return [_with_short_references(item) for item in node]
    return node
