"""tb_backend/api/openapi.yaml as something to check an answer with."""

import os

import jsonschema
import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OPENAPI = os.path.join(ROOT, "tb_backend", "api", "openapi.yaml")


class Contract:
    def __init__(self, path=OPENAPI):
        with open(path, encoding="utf-8") as file:
            self.document = yaml.safe_load(file)
        self.operations = {}  # operationId -> (path template, operation)
        self.methods = {}  # operationId -> GET, POST, …
        for template, item in self.document["paths"].items():
            for method, operation in item.items():
                self.operations[operation["operationId"]] = (template, operation)
                self.methods[operation["operationId"]] = method.upper()

    def resolve(self, node):
        while isinstance(node, dict) and "$ref" in node:
            target = self.document
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            node = target
        return node

    def check(self, operation_id, answer):
        """Raises AssertionError when the answer is not what the contract promises."""
        _, operation = self.operations[operation_id]
        responses = operation["responses"]
        status = str(answer.status)
        expected = self.resolve(responses.get(status) or responses.get("default"))
        if expected is None or (status not in responses and answer.status < 400):
            raise AssertionError(f"{operation_id}: status {status} is not in the contract")
        content = expected.get("content")
        if content is None:
            if answer.body:
                raise AssertionError(f"{operation_id}: {status} has a body")
            return
        if answer.media_type not in content:
            raise AssertionError(f"{operation_id}: {status} is {answer.media_type!r}")
        if answer.headers.get("x-content-type-options") != "nosniff":
            raise AssertionError(f"{operation_id}: no nosniff")
        if answer.media_type.endswith("json"):
            self.check_schema(content[answer.media_type]["schema"], answer.json(), operation_id)

    def check_schema(self, schema, value, what):
        # References lead into the components, so they stand beside the schema.
        document = {"components": self.document["components"], **schema}
        validator = jsonschema.Draft202012Validator(document)
        error = jsonschema.exceptions.best_match(validator.iter_errors(value))
        if error is not None:
            raise AssertionError(f"{what}: {error.json_path}: {error.message[:300]}")
