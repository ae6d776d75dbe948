"""Forms that stay while their page is loaded again, tested where they run."""

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
