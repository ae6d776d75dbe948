"""Forms that stay while their page is loaded again, and fields made from schemas, tested where they run."""

from typing import Any

import pytest
from playwright.sync_api import Page


def test_a_form_that_stays_takes_over_what_was_loaded(page: Page) -> None:
    assert page.evaluate("""async () => {
      const at = document.querySelector('script[type=module]').src.replace('app.js', 'widgets/form.js');
      const { form } = await import(at);
      const make = (options) => form({ label: 'Budget', fields: [], save() {}, keep: true, ...options });
      const made = make({ action: 'Create' });
      document.body.append(made);
      const again = make({ action: 'Remove', danger: true });
      const button = again.querySelector('button');
      return [again === made, button.textContent, button.className];
    }""") == [True, "Remove", "button button-danger"]


@pytest.mark.parametrize(
    ("node", "kind", "value"),
    [
        ({"enum": [1, 2, 4], "default": 2}, "select", 2),
        ({"enum": ["", "a"]}, "select", ""),
        ({"enum": [None, "a"]}, "select", None),
        ({"enum": [{"a": 1}, {"b": 2}], "default": {"a": 1}}, "json", '{"a":1}'),
        ({"enum": []}, "text", None),
        ({"oneOf": []}, "text", None),
        ({"oneOf": [{"const": 1}, {"const": 2}]}, "select", 1),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "text", None),
        ({"const": "x"}, "select", "x"),
        ({"enum": ["eu", None]}, "select", None),
        ({"oneOf": [{"const": "a", "title": "A"}, {"type": "null"}]}, "select", None),
        ({"anyOf": [True, {"type": "integer"}, None]}, "number", None),
        ({"oneOf": [True]}, "text", None),
        ({"oneOf": [None, {"const": 1}]}, "text", None),
        ({"type": ["integer", "null"]}, "number", None),
        ({"anyOf": [{"type": "boolean"}, {"type": "null"}], "default": True}, "check", True),
        ({"type": ["string", "integer"]}, "text", None),
        ({"type": "array", "items": {"type": "string"}}, "list", None),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "default": ["a"]}, "list", ["a"]),
        ({"type": "array", "items": {"type": "integer"}, "default": [1, 2]}, "json", "[1,2]"),
        ({"type": "array", "items": {"type": "object"}}, "json", "[]"),
        ({"type": "object", "default": {"a": {"b": 1}}}, "json", '{"a":{"b":1}}'),
        ({}, "text", None),
        (True, "text", None),
        (None, "text", None),
    ],
    ids=str,
)
def test_any_schema_of_a_property_makes_a_field(page: Page, node: Any, kind: str, value: Any) -> None:
    """One that is odd does not stop the form of all types; what is chosen is sent as the schema has it."""
    found = page.evaluate(
        """async (node) => {
          const shell = document.querySelector("script[type=module]").src;
          const { fieldsOf } = await import(shell.replace("app.js", "widgets/schema.js"));
          const [field] = fieldsOf({ properties: { field: node } });
          const { empty } = await import(shell.replace("app.js", "widgets/values.js"));
          const chosen = field.options?.map(([one]) => field.read(one)) ?? null;
          return [field.type, field.value ?? null, chosen, field.label, empty(field)];
        }""",
        node,
    )
    assert found[:2] == [kind, value]
    if kind == "select":
        choices = node.get("enum") or [one.get("const") for one in node.get("oneOf", [node])]
        assert found[2] == sorted(choices, key=lambda one: one is not None)  # none is the first
        assert found[4] == found[2][0]
    assert found[3] == "Field" + (", one per line" if kind == "list" else "")


@pytest.mark.parametrize(
    ("node", "stored", "sent"),
    [
        ({"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}], "default": None}, None, None),
        ({"oneOf": [{"enum": ["a", "b"]}, {"type": "null"}]}, None, None),
        ({"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}, "b", "b"),
        ({"anyOf": [{"const": "a", "type": "string"}, {"type": "null"}]}, None, None),
        ({"type": ["string", "null"]}, None, None),
        ({"type": ["integer", "null"]}, None, None),
        ({"type": ["object", "null"]}, None, None),
        ({"type": ["array", "null"], "items": {"type": "integer"}}, None, []),
        ({"type": "string"}, None, None),  # nothing is sent
        ({"type": "string"}, "x", "x"),
        ({"type": "integer"}, None, None),
        ({"type": "integer"}, 0, 0),
        ({"type": "object"}, None, {}),
        ({"type": "array", "items": {"type": "integer"}}, [1], [1]),
    ],
    ids=str,
)
def test_what_may_be_null_is_null_where_nothing_is_given(page: Page, node: Any, stored: Any, sent: Any) -> None:
    assert saved(page, node, stored) == sent


@pytest.mark.parametrize(
    ("node", "sent"),
    [
        ({"type": "string", "x-rows": 2}, ""),
        ({"type": "array", "items": {"type": "integer"}}, []),
        ({"type": "object"}, {}),
        ({"type": ["object", "null"]}, None),
    ],
    ids=str,
)
def test_an_emptied_box_of_json_is_an_empty_value(page: Page, node: Any, sent: Any) -> None:
    assert saved(page, node, [1], emptied=True) == sent


def saved(page: Page, node: Any, stored: Any, *, emptied: bool = False) -> Any:
    """Return what a form sends of a property, as it is or with its box emptied; required changes nothing about null."""
    return page.evaluate(
        """async ([node, stored, emptied]) => {
          const { src } = document.querySelector("script[type=module]");
          const at = (name) => src.replace("app.js", `widgets/${name}.js`);
          const { fieldsOf } = await import(at("schema"));
          const { form } = await import(at("form"));
          let sent;
          const nullable = [node.type].flat().includes("null");
          const schema = { properties: { field: node }, required: nullable ? ["field"] : [] };
          const fields = fieldsOf(schema, { values: { field: stored } });
          const made = form({ label: "F", fields, save: (values) => { sent = values; } });
          document.body.append(made);
          const box = made.querySelector("textarea");
          if (emptied) { box.value = ""; box.dispatchEvent(new InputEvent("input", { bubbles: true })); }
          made.requestSubmit();
          await new Promise((done) => setTimeout(done));
          return emptied && !("field" in sent) ? "nothing" : sent.field ?? null;
        }""",
        [node, stored, emptied],
    )
