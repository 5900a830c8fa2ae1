"""Create page in a browser: form, plan preview, start of the campaign; and sign-in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from support.browser import ApiClient, create, open_browser, open_page, overflow
from support.live_service import in_thread
from support.waiting import PATIENCE

from almoner.service.auth.api_keys import create_key
from almoner.store import open_store


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with in_thread() as url:
        yield url


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    with open_page(browser, url) as page:
        page.goto("/new")
        yield page


def fill(page: Page, name: str) -> None:
    """Fill in the form, except its horizon."""
    page.get_by_label("Name", exact=True).fill(name)
    for index, (context, weight) in enumerate([("newcomer", "6"), ("returning", "4")]):
        page.get_by_label("Context", exact=True).nth(index).fill(context)
        page.get_by_label("How often").nth(index).fill(weight)
    page.get_by_label("Action", exact=True).fill("coupon")
    page.get_by_label("Cost", exact=True).fill("5")
    page.get_by_label("Budget", exact=True).fill("2000")
    page.get_by_label("Mean reward of coupon for newcomer").fill("0.1")
    page.get_by_label("Mean reward of coupon for returning").fill("0.4")


def fill_known(page: Page, newcomer: str, returning: str) -> None:
    """Fill in known rewards of doing nothing; the section of more terms must be open."""
    page.get_by_label("known mean rewards").check()
    page.get_by_label("Mean reward of doing nothing for newcomer").fill(newcomer)
    page.get_by_label("Mean reward of doing nothing for returning").fill(returning)


def test_the_plan_is_shown_and_then_the_campaign_starts(page: Page, url: str) -> None:
    fill(page, "autumn & winter")
    page.get_by_label("Arrivals", exact=True).fill("1000")
    start = page.get_by_role("button", name="Start the campaign")
    expect(start).to_be_hidden()
    page.get_by_role("button", name="Preview the plan").click()
    plan = page.get_by_role("region", name="The plan")
    expect(plan).to_be_focused()
    # 2,000 buy 400 coupons: all of the 400 returning ones, at a mean of 0.4, and nobody else.
    rows = plan.locator(".served li")
    expect(rows).to_contain_text(["newcomer 60 % of arrivals", "returning 40 % of arrivals"])
    expect(rows.nth(0)).to_contain_text("skipped")
    expect(rows.nth(1)).to_contain_text("coupon 100 %")
    expect(plan).to_contain_text("newcomer would be served in part or not at all")
    expect(plan.locator("dl")).to_contain_text("160from 1,000 arrivals")
    expect(plan.locator("dl")).to_contain_text("the plan changes at 2, 5")

    page.get_by_label("Budget", exact=True).fill("2500")
    expect(start).to_be_hidden()
    expect(plan).to_contain_text("The form has changed since; preview the plan again.")
    page.get_by_role("button", name="Preview the plan").click()
    start.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("autumn & winter")
    expect(page).to_have_url(f"{url}/campaigns/autumn%20%26%20winter")
    campaign = httpx.get(f"{url}/api/campaigns/autumn%20%26%20winter", timeout=PATIENCE).json()
    assert (campaign["budget"], campaign["horizon"], campaign["contexts"]) == (
        2500,
        1000,
        ["newcomer", "returning"],
    )
    coupon = campaign["actions"]["coupon"]
    assert (coupon["cost"], coupon["reserve"]) == (5.0, 5.0)
    assert (campaign["unit"], campaign["default_rewards"], campaign["new_contexts"]) == (
        1e-6,
        None,
        False,
    )
    with ApiClient(url, "autumn%20%26%20winter") as api:
        api.decide("returning")
    expect(page.locator("#decision-1")).to_contain_text("coupon")


def test_the_default_policy_has_a_caution_and_no_other_one(page: Page, url: str) -> None:
    fill(page, "cautious")
    page.get_by_label("Arrivals", exact=True).fill("1000")
    page.locator("summary", has_text="More terms").click()
    caution = page.get_by_label("Caution")
    caution.fill("11")
    page.get_by_label("Policy").select_option("wilson_eager")
    expect(caution).to_be_hidden()
    page.get_by_label("Policy").select_option("thrifty")
    caution.fill("1.5")
    page.get_by_role("button", name="Preview the plan").click()
    page.get_by_role("button", name="Start the campaign").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("cautious")
    report = httpx.get(f"{url}/api/campaigns/cautious/report", timeout=PATIENCE).json()
    assert report["policy"] == "thrifty(caution=1.5)"


def test_rows_come_and_go_and_reserves_are_kept(page: Page, url: str) -> None:
    fill(page, "rows")
    page.get_by_label("Arrivals", exact=True).fill("100")
    page.get_by_role("button", name="Add a context").click()
    expect(page.get_by_label("Context", exact=True).nth(2)).to_be_focused()
    page.keyboard.type("lapsed")
    page.get_by_role("button", name="Remove context 2").click()
    page.get_by_role("button", name="Add an action").click()
    page.keyboard.type("call")
    page.get_by_label("Cost", exact=True).nth(1).fill("2")
    page.get_by_label("Reserve").nth(1).fill("3.5")
    guesses = page.get_by_role("table", name="Expected mean reward")
    expect(guesses.get_by_role("rowheader")).to_have_text(["newcomer", "lapsed"])
    expect(guesses.get_by_role("columnheader")).to_have_text(["Context", "coupon", "call"])
    page.get_by_label("Policy").select_option("thompson_rounded")
    expect(page.get_by_text("Thompson sampling in the rounded LP.")).to_be_visible()
    page.get_by_role("button", name="Preview the plan").click()
    page.get_by_role("button", name="Start the campaign").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("rows")
    campaign = httpx.get(f"{url}/api/campaigns/rows", timeout=PATIENCE).json()
    assert campaign["contexts"] == ["newcomer", "lapsed"]
    call = campaign["actions"]["call"]
    assert (call["cost"], call["reserve"]) == (2.0, 3.5)
    assert "Thompson" in str(campaign["policy"]["rewards"])


def test_names_in_the_tables_and_in_errors_keep_their_text_direction(page: Page) -> None:
    fill(page, "directions")
    page.get_by_label("Arrivals", exact=True).fill("100")
    for index in range(2):
        page.get_by_label("Context", exact=True).nth(index).fill("\u202eevil")
    guesses = page.get_by_role("table", name="Expected mean reward")
    expect(guesses.locator("tbody th bdi")).to_have_text([r"\u202eevil"] * 2)
    page.get_by_role("button", name="Preview the plan").click()
    expect(page.locator("form [role=alert]")).to_contain_text("“\u2068\\u202eevil\u2069”; give")


def test_a_policy_for_two_contexts_is_offered_for_two(page: Page) -> None:
    policy, add = page.get_by_label("Policy"), page.get_by_role("button", name="Add a context")
    option = policy.locator("option[value=ucb_pb]")
    expect(option).to_be_enabled()
    add.click()
    expect(option).to_be_disabled()
    page.get_by_role("button", name="Remove context 3").click()
    policy.select_option("ucb_pb")
    expect(page.locator("#policy-hint")).to_contain_text("For two contexts, actions of the same")
    add.click()
    expect(policy).to_have_value("ucb_pb")
    expect(policy.locator("option:disabled")).to_have_count(1)


def test_a_closing_time_with_expected_arrivals(page: Page, url: str) -> None:
    fill(page, "until-new-year")
    page.get_by_label("at a closing time").check()
    expect(page.get_by_label("Arrivals", exact=True)).to_be_hidden()
    page.get_by_label("Closing time, by your clock").fill("2099-12-31T23:30")
    page.get_by_label("Expected arrivals until then").fill("5000")
    page.get_by_role("button", name="Preview the plan").click()
    page.get_by_role("button", name="Start the campaign").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("until-new-year")
    expect(page.locator(".figures")).to_contain_text("31 Dec 2099, 23:30")
    campaign = httpx.get(f"{url}/api/campaigns/until-new-year", timeout=PATIENCE).json()
    assert campaign["closes"] == "2099-12-31T23:30:00+00:00"


def test_known_rewards_of_doing_nothing_are_in_the_plan_and_in_the_terms(
    page: Page, url: str
) -> None:
    fill(page, "known")
    page.get_by_label("Budget", exact=True).fill("1000")
    page.get_by_label("Arrivals", exact=True).fill("1000")
    page.locator("summary", has_text="More terms").click()
    fill_known(page, "0.2", "0.15")
    page.get_by_label("Smallest unit").fill("0.5")
    page.get_by_label("Seed").fill("9007199254740991")
    page.get_by_role("button", name="Preview the plan").click()
    # A coupon is worse than nothing for newcomers. 1,000 buy one for 200 of the 400 others:
    # 600 × 0.2 + 200 × 0.4 + 200 × 0.15 = 230.
    plan = page.get_by_role("region", name="The plan")
    expect(plan).to_contain_text("everybody worth serving: returning would be served in part")
    expect(plan.locator("dl")).to_contain_text("230from 1,000 arrivals")
    expect(plan.locator(".served li").nth(0)).to_contain_text("skipped")
    expect(plan.locator(".served li").nth(1)).to_contain_text("coupon 50 %")
    page.get_by_role("button", name="Start the campaign").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("known")
    campaign = httpx.get(f"{url}/api/campaigns/known", timeout=PATIENCE).json()
    assert campaign["default_rewards"] == {"newcomer": 0.2, "returning": 0.15}
    assert (campaign["unit"], campaign["seed"], campaign["new_contexts"]) == (0.5, 2**53 - 1, False)


def test_doing_nothing_is_learned_and_contexts_are_added(page: Page, url: str) -> None:
    fill(page, "learned")
    page.get_by_label("Arrivals", exact=True).fill("1000")
    page.locator("summary", has_text="More terms").click()
    page.get_by_label("to be learned").check()
    expect(page.get_by_text("Report the reward of a skip")).to_be_visible()
    page.get_by_label("Add undeclared contexts").check()
    page.get_by_role("button", name="Preview the plan").click()
    plan = page.get_by_role("region", name="The plan")
    expect(plan).not_to_contain_text("yet to be learned; here it is as you guess")
    expect(plan.locator("dl")).to_contain_text("160from 1,000 arrivals")
    # A coupon is worse than nothing for newcomers: 600 × 0.2 + 400 × 0.4 = 280.
    page.get_by_label("Guessed reward of doing nothing for newcomer").fill("0.2")
    page.get_by_role("button", name="Preview the plan").click()
    expect(plan).to_contain_text("yet to be learned; here it is as you guess")
    expect(plan.locator("dl")).to_contain_text("280from 1,000 arrivals")
    expect(plan).to_contain_text("enough for everything worth doing")
    page.get_by_role("button", name="Start the campaign").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("learned")
    with ApiClient(url, "learned") as api:
        api.decide("stranger")
    campaign = httpx.get(f"{url}/api/campaigns/learned", timeout=PATIENCE).json()
    assert (campaign["default_rewards"], campaign["new_contexts"]) == ("learned", True)
    assert campaign["contexts"] == ["newcomer", "returning", "stranger"]


def test_guesses_are_the_prior_of_the_campaign_and_rewards_are_in_money(
    page: Page, url: str
) -> None:
    fill(page, "first")
    page.get_by_label("Arrivals", exact=True).fill("1000")
    page.get_by_label("Currency").fill("EUR")
    page.locator("summary", has_text="More terms").click()
    page.get_by_label("Largest reward").fill("350")
    page.get_by_label("Mean reward of coupon for newcomer").fill("35")
    page.get_by_label("Mean reward of coupon for returning").fill("140")
    page.get_by_label("As sure as after").fill("20")
    page.get_by_role("button", name="Preview the plan").click()
    plan = page.get_by_role("region", name="The plan")
    # 400 coupons for the returning ones, at a mean of 140 each.
    expect(plan.locator("dl")).to_contain_text("56,000 EURfrom 1,000 arrivals")
    expect(plan.locator("dl")).to_contain_text("EUR of reward per EUR of budget")
    expect(plan).to_contain_text("begins with your guesses, as sure as 40 rewards make it")
    page.get_by_role("button", name="Start the campaign").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("first")
    expect(page.locator("main")).to_contain_text(
        "It began with what 40 rewards teach, by its prior"
    )
    expect(page.locator("main")).to_contain_text("2,000 EUR")
    campaign = httpx.get(f"{url}/api/campaigns/first", timeout=PATIENCE).json()
    means = {"newcomer": {"coupon": 35}, "returning": {"coupon": 140}}
    assert campaign["prior"] == {"means": means, "weight": 20}
    assert (campaign["reward_range"], campaign["currency"]) == ([0, 350], "EUR")

    page.goto("/new")
    fill(page, "second")
    page.get_by_label("Arrivals", exact=True).fill("1000")
    page.get_by_label("Currency").fill("EUR")
    page.locator("summary", has_text="More terms").click()
    page.get_by_label("Largest reward").fill("350")
    for context in ("newcomer", "returning"):
        page.get_by_label(f"Mean reward of coupon for {context}").fill("")
    expect(page.get_by_label("Memory")).to_be_disabled()
    page.get_by_label("Go on after").select_option("first")
    page.get_by_label("Memory").fill("0.5")
    page.get_by_role("button", name="Preview the plan").click()
    expect(plan).to_contain_text("begins with 20 rewards, after “first”")
    # As the campaign will estimate: half the rewards, and what the two means have in common.
    expect(plan.locator("dl")).to_contain_text("55,227 EURfrom 1,000 arrivals")
    page.get_by_role("button", name="Start the campaign").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("second")
    campaign = httpx.get(f"{url}/api/campaigns/second", timeout=PATIENCE).json()
    assert (campaign["after"], campaign["memory"], campaign["prior"]) == ("first", 0.5, None)
    assert campaign["inherited"] == 20.0


def test_numbers_stay_with_their_context_and_action(page: Page) -> None:
    fill(page, "moving")
    page.locator("summary", has_text="More terms").click()
    fill_known(page, "0.2", "0.3")
    page.get_by_role("button", name="Add an action").click()
    page.keyboard.type("call")
    page.get_by_label("Mean reward of call for returning").fill("0.7")
    page.get_by_role("button", name="Remove context 1").click()
    page.get_by_role("button", name="Remove action 1").click()
    expect(page.get_by_label("Mean reward of call for returning")).to_have_value("0.7")
    expect(page.get_by_label("Mean reward of doing nothing for")).to_have_value("0.3")


def test_a_guess_of_what_skipping_brings_is_asked_for_while_it_is_to_be_learned(
    page: Page,
) -> None:
    fill(page, "guessing")
    page.locator("summary", has_text="More terms").click()
    guess = page.get_by_label("Guessed reward of doing nothing for returning")
    expect(guess).to_be_hidden()
    page.get_by_label("to be learned").check()
    expect(guess).to_have_value("")
    guess.fill("0.3")
    page.get_by_role("button", name="Remove context 1").click()
    expect(guess).to_have_value("0.3")
    page.get_by_label("nothing", exact=True).check()
    expect(guess).to_be_hidden()


def test_an_action_that_can_never_be_taken_is_named_and_not_planned(page: Page) -> None:
    fill(page, "unaffordable")
    page.get_by_label("Arrivals", exact=True).fill("100")
    page.get_by_label("Reserve").fill("5000")
    page.get_by_role("button", name="Preview the plan").click()
    plan = page.locator("#plan-body")
    expect(plan).to_contain_text("“coupon” can never be taken: it reserves 5,000, and the budget")
    expect(plan).not_to_contain_text("coupon 100 %")


def test_closed_details_open_where_a_field_is_invalid(page: Page) -> None:
    fill(page, "folded")
    page.get_by_label("Arrivals", exact=True).fill("100")
    page.locator("summary", has_text="More terms").click()
    page.get_by_label("known mean rewards").check()
    page.locator("summary", has_text="More terms").click()
    missing = page.get_by_label("Mean reward of doing nothing for newcomer")
    expect(missing).to_be_hidden()
    page.get_by_role("button", name="Preview the plan").click()
    expect(missing).to_be_focused()
    # Fields of other choices are not required.
    page.get_by_label("nothing", exact=True).check()
    page.get_by_role("button", name="Preview the plan").click()
    expect(page.get_by_role("button", name="Start the campaign")).to_be_visible()


@pytest.mark.parametrize("width", [375, 1200])
def test_names_of_200_characters_leave_the_tables_readable(
    browser: Browser, url: str, width: int
) -> None:
    with open_page(browser, url, viewport={"width": width, "height": 800}) as page:
        page.goto("/new")
        fill(page, "long names")
        page.get_by_label("Arrivals", exact=True).fill("1000")
        page.get_by_label("Context", exact=True).nth(0).fill("W" * 200)
        page.get_by_label("Context", exact=True).nth(1).fill(f"{'long words ' * 18}1")
        page.get_by_label("Action", exact=True).fill("X" * 200)
        page.get_by_role("button", name="Add an action").click()
        page.keyboard.type("to write a letter by hand, " * 7)
        page.get_by_label("Cost", exact=True).nth(1).fill("2")
        sizes = "cells => cells.map(cell => [cell.offsetWidth, cell.offsetHeight])"
        for cell_width, height in page.locator("#guesses th").evaluate_all(sizes):
            assert 100 <= cell_width <= 250
            assert height <= 150
        assert overflow(page) <= 0
        page.get_by_role("button", name="Preview the plan").click()
        served = page.locator("#plan .served .name")
        expect(served).to_have_count(2)
        assert min(cell_width for cell_width, _ in served.evaluate_all(sizes)) > 200
        assert overflow(page) <= 0


def test_errors_of_the_service_are_shown_beside_the_form(browser: Browser, url: str) -> None:
    create(url, name="taken", budget=3)
    with open_page(browser, url, expected=("422", "409")) as page:
        page.goto("/new")
        fill(page, "free")
        page.get_by_label("Arrivals", exact=True).fill("100")
        page.get_by_label("Reserve").fill("4")
        message = page.locator("form [role=alert]")
        page.get_by_role("button", name="Preview the plan").click()
        expect(message).to_contain_text("the reserve of 'coupon' must be no less than its cost")
        page.get_by_label("Reserve").fill("")
        page.locator("summary", has_text="More terms").click()
        page.get_by_label("Smallest unit").fill("3")
        page.get_by_role("button", name="Preview the plan").click()
        expect(message).to_contain_text("must be a whole number of the smallest unit 3")
        page.get_by_label("Smallest unit").fill("")
        fill_known(page, "0.2", "0.3")
        page.get_by_label("Add undeclared contexts").check()
        page.get_by_role("button", name="Preview the plan").click()
        expect(message).to_contain_text("new_contexts=True needs")
        page.get_by_label("nothing", exact=True).check()
        page.get_by_label("Add undeclared contexts").uncheck()
        page.get_by_role("button", name="Preview the plan").click()
        expect(page.get_by_role("button", name="Start the campaign")).to_be_visible()
        expect(message).to_be_empty()
        name = page.get_by_label("Name", exact=True)
        name.fill("free/taken")
        page.get_by_role("button", name="Preview the plan").click()
        expect(message).to_contain_text("printable characters without a slash")
        name.fill("taken")
        page.get_by_role("button", name="Preview the plan").click()
        expect(message).to_contain_text("campaign 'taken' was opened with")
        expect(page.get_by_role("button", name="Start the campaign")).to_be_hidden()
        page.get_by_label("Context", exact=True).nth(1).fill("newcomer")
        page.get_by_role("button", name="Preview the plan").click()
        expect(message).to_have_text(
            "Two contexts are called “\u2068newcomer\u2069”; give them different names."
        )
    assert httpx.get(f"{url}/api/campaigns/taken", timeout=PATIENCE).json()["budget"] == 3


def test_an_error_goes_when_the_form_changes(page: Page) -> None:
    fill(page, "corrected")
    page.get_by_label("Arrivals", exact=True).fill("100")
    message = page.locator("form [role=alert]")
    changes: list[Callable[[], None]] = [
        lambda: page.get_by_label("Context", exact=True).nth(1).fill("old"),
        lambda: page.get_by_label("at a closing time").check(),
        lambda: page.get_by_role("button", name="Add a context").click(),
    ]
    for change in changes:
        page.get_by_label("after a number of arrivals").check()
        page.get_by_label("Context", exact=True).nth(1).fill("newcomer")
        page.get_by_role("button", name="Preview the plan").click()
        expect(message).to_contain_text("Two contexts are called")
        change()
        expect(message).to_be_empty()


def test_contexts_that_come_equally_and_hugely_often(page: Page) -> None:
    fill(page, "huge")
    page.get_by_label("Arrivals", exact=True).fill("100")
    for index in range(2):
        page.get_by_label("How often").nth(index).fill("1e308")
    page.get_by_role("button", name="Preview the plan").click()
    rows = page.get_by_role("region", name="The plan").locator(".served li")
    expect(rows).to_contain_text(["newcomer 50 % of arrivals", "returning 50 % of arrivals"])


def test_a_preview_needs_a_context_that_comes(page: Page) -> None:
    fill(page, "weightless")
    page.get_by_label("Arrivals", exact=True).fill("1000")
    for index in range(2):
        page.get_by_label("How often").nth(index).fill("0")
    page.get_by_role("button", name="Preview the plan").click()
    message = page.locator("form [role=alert]")
    expect(message).to_have_text("“How often” must be above 0 for one context at least.")
    page.get_by_label("How often").nth(0).fill("1")
    page.get_by_role("button", name="Preview the plan").click()
    # 2,000 buy 400 coupons for 1,000 newcomers; a returning one would have been the better use.
    plan = page.get_by_role("region", name="The plan")
    expect(plan).to_contain_text("everybody: newcomer would be served in part or not at all")
    expect(plan.locator(".served li").nth(1)).to_contain_text("never comes, as you guess")
    expect(plan.locator(".served li").nth(1)).to_contain_text("coupon 100 %")


def test_a_preview_in_which_nobody_is_served_gives_one_reason(page: Page) -> None:
    fill(page, "nobody")
    page.get_by_label("Arrivals", exact=True).fill("1000")
    page.get_by_label("Budget", exact=True).fill("4")
    page.get_by_role("button", name="Preview the plan").click()
    plan = page.get_by_role("region", name="The plan")
    expect(plan).to_contain_text("Nobody would be served: the budget is less than any action")
    for absent in ("does not reach", "the plan changes at", "enough for everything"):
        expect(plan).not_to_contain_text(absent)
    page.get_by_label("Budget", exact=True).fill("2000")
    for context in ("newcomer", "returning"):
        page.get_by_label(f"Mean reward of coupon for {context}").fill("0")
    page.get_by_role("button", name="Preview the plan").click()
    expect(plan).to_contain_text("by your guesses, no action is worth its cost")
    expect(plan).not_to_contain_text("enough for everything")


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(40):
        if page.locator(selector).evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached with the keyboard")


def test_a_campaign_is_created_with_the_keyboard_alone(page: Page, url: str) -> None:
    page.get_by_label("Name", exact=True).focus()
    keys = page.keyboard
    policy, kind, remove, add, reserve, more = "", "", "", "", "", ""
    for typed in [
        *("typed", policy, kind),
        *("new", "3", remove, "old", "1", remove, add),
        *("mail", "2", reserve, more),  # the only action cannot be removed
    ]:
        keys.type(typed)
        keys.press("Tab")
    expect(page.get_by_role("button", name="Add an action")).to_be_focused()
    keys.press("Tab")
    for typed in ("50", "EUR"):
        keys.type(typed)
        keys.press("Tab")
    keys.press("ArrowDown")  # from a number of arrivals to a closing time, and back
    keys.press("ArrowUp")
    keys.press("Tab")
    keys.type("40")
    keys.press("Tab")
    keys.press("Enter")  # more terms
    tab_to(page, "input[name=skipping]:checked")
    keys.press("ArrowDown")  # from nothing to known rewards
    for typed in ("", "0.3", "0.1"):
        keys.type(typed)
        keys.press("Tab")
    tab_to(page, "#new-contexts")
    keys.press("Space")  # undeclared contexts are added, and on second thoughts are not
    keys.press("Space")
    tab_to(page, "#unit")
    for typed in ("0.5", "7"):
        keys.type(typed)
        keys.press("Tab")
    tab_to(page, "#preview")
    expect(page.get_by_role("button", name="Preview the plan")).to_be_focused()
    keys.press("Enter")
    expect(page.get_by_role("region", name="The plan")).to_be_focused()
    keys.press("Tab")
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("typed")
    campaign = httpx.get(f"{url}/api/campaigns/typed", timeout=PATIENCE).json()
    assert (campaign["contexts"], campaign["budget"], campaign["horizon"]) == (
        ["new", "old"],
        50,
        40,
    )
    assert (campaign["default_rewards"], campaign["unit"]) == ({"new": 0.3, "old": 0.1}, 0.5)
    assert (campaign["new_contexts"], campaign["seed"]) == (False, 7)


def test_a_service_with_keys_asks_for_one(browser: Browser) -> None:
    store = open_store("memory:")
    keys = {right: create_key(store, right, right=right) for right in ("administer", "decide")}
    with in_thread(store, locked=True) as url, open_page(browser, url, expected=("401",)) as page:
        page.goto("/new")
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
        page.get_by_label("Key").fill("almoner_wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_have_text(
            "This key is not valid: it may be mistyped, or revoked."
        )
        page.get_by_label("Key").fill(keys["administer"])
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("New campaign")
        fill(page, "locked")
        page.get_by_label("Arrivals", exact=True).fill("100")
        page.get_by_role("button", name="Preview the plan").click()
        page.get_by_role("button", name="Start the campaign").click()
        expect(page.get_by_role("button", name="Pause")).to_be_visible()
        (cookie,) = page.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")

        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
        assert page.context.cookies() == []
        page.get_by_label("Key").fill(keys["decide"])
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Campaigns")
        page.get_by_role("link", name="New campaign").click()
        expect(page.locator("main")).to_contain_text("may not create campaigns")
        expect(page.get_by_role("textbox")).to_have_count(0)
        page.get_by_role("link", name="All campaigns").click()
        page.get_by_role("link", name="locked").click()
        expect(page.locator(".figures")).to_be_visible()
        expect(page.get_by_role("button", name="Pause")).to_have_count(0)


def test_an_ended_session_leads_from_the_preview_to_the_sign_in_form(browser: Browser) -> None:
    store = open_store("memory:")
    key = create_key(store, "ops", right="administer")
    with in_thread(store) as url, open_page(browser, url) as page:
        page.goto("/new")
        page.get_by_label("Key").fill(key)
        page.get_by_role("button", name="Sign in").click()
        fill(page, "late")
        page.get_by_label("Arrivals", exact=True).fill("100")
        page.context.clear_cookies()
        page.get_by_role("button", name="Preview the plan").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
        expect(page).to_have_url(f"{url}/sign-in?next=%2Fnew")


def test_an_action_has_expiry_and_learned_cost(browser: Browser, url: str) -> None:
    with open_page(browser, url, expected=("422",)) as page:
        page.goto("/new")
        fill(page, "expiring")
        page.get_by_label("Arrivals", exact=True).fill("100")
        page.get_by_label("Reserve").fill("8")
        page.get_by_text("Expiry and learned cost").click()
        expires = page.get_by_label("Expires after", exact=True)
        expires.fill("next week")
        page.get_by_role("button", name="Preview the plan").click()
        message = page.locator(".row.action #form-error")
        expect(message).to_contain_text("the expiry of 'coupon' must be a duration above 0")
        expect(expires).to_be_focused()
        expires.fill("7 days")
        expect(message).to_have_count(0)
        page.get_by_label("Then", exact=True).select_option("charge")
        page.get_by_label("Learn its cost").check()
        page.get_by_label("Budget", exact=True).fill("2000.0000001")
        page.get_by_role("button", name="Preview the plan").click()
        budget = page.locator(".field", has=page.locator("#budget"))
        expect(budget.locator("#form-error")).to_contain_text("budget must be a whole number of")
        page.get_by_label("Budget", exact=True).fill("2000")
        page.get_by_role("button", name="Preview the plan").click()
        page.get_by_role("button", name="Start the campaign").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("expiring")
    coupon = httpx.get(f"{url}/api/campaigns/expiring", timeout=PATIENCE).json()["actions"][
        "coupon"
    ]
    assert (coupon["cost"], coupon["reserve"], coupon["expires"]) == (5, 8, "1 week")
    assert (coupon["on_expiry"], coupon["learn_cost"]) == ("charge", True)
