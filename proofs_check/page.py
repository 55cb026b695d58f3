"""The ledger as one HTML page that needs no network: formulas are MathML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from html import escape

from latex2mathml.converter import convert

from proofs_check.running import Entry, Outcome
from proofs_check.statement import Status
from proofs_check.table import counted, number

MEANINGS = {
    Status.FALSE: "a counterexample breaks it",
    Status.OPEN: "neither proved nor broken in full; the entry says how far each goes",
    Status.REPAIRED: "stands in place of something that is false or has no proof",
    Status.PROOF_GAP: "the printed argument does not show it; the entry says what does",
    Status.LOOSE: "true, with a better constant",
    Status.TYPO: "meant rightly and misprinted",
    Status.TIGHT: "true, and attained by an instance",
    Status.HOLDS: "true as it stands",
}
"""What a verdict says; the page begins with the first ones."""


def page(entries: Sequence[Entry]) -> str:
    """The whole page."""
    found = Counter(entry.statement.status for entry in entries)
    verdicts = [status for status in MEANINGS if found[status]]
    buttons = [_button("all", f"all {len(entries)}", pressed=True)]
    buttons += [_button(_slug(status), f"{status} {found[status]}") for status in verdicts]
    legend = [
        f'<dt><span class="badge {_slug(status)}">{status}</span></dt><dd>{MEANINGS[status]}</dd>'
        for status in verdicts
    ]
    ordered = sorted(entries, key=lambda entry: verdicts.index(entry.statement.status))
    ours = sum(entry.statement.origin == "ours" for entry in entries)
    ran = [outcome for entry in entries for outcome in entry.outcomes]
    against = sum(not outcome.agrees for outcome in ran)
    left_out = sum(entry.left_out for entry in entries)
    amounts = f"{counted(len(entries), 'statement')} ({ours} ours), {counted(len(ran), 'check')}"
    verdict = f"{against} against the ledger" if against else "all agree with the ledger"
    rest = f"; {counted(left_out, 'slow check')} left out" if left_out else ""
    return PAGE.format(
        style=STYLE,
        script=SCRIPT,
        summary=f"{amounts}: {verdict}{rest}.",
        against=" against" if against else "",
        buttons="".join(buttons),
        legend="".join(legend),
        entries="\n".join(map(_card, ordered)),
    )


def typeset(text: str) -> str:
    """Words escaped, TeX between dollar signs as MathML; a single dollar sign is refused."""
    parts = re.split(r"\$(.*?)\$", text)
    if any("$" in words for words in parts[::2]):
        raise ValueError(f"a formula has no closing dollar sign in {text!r}; expected $…$ in pairs")
    return "".join(
        _formula(part) if place % 2 else escape(part) for place, part in enumerate(parts)
    )


def _formula(tex: str) -> str:
    """MathML; browsers break no line within it, so a formula is several, broken where one may."""
    tex = tex.replace(r"\arg", r"\operatorname{arg}")  # which the converter does not know
    pieces = [tex] if len(tex) <= UNBROKEN else breakable(tex)
    # The empty group keeps the spaces of an operator that has come to stand first.
    converted = [
        convert(piece if place == 0 else "{}" + piece) for place, piece in enumerate(pieces)
    ]
    return "<wbr>".join(SIGN.sub(r'\1<mo form="prefix">&#x02212;</mo>', one) for one in converted)


UNBROKEN = 60
"""Letters of TeX that surely fit on a line."""

SIGN = re.compile(
    r"(<mo[^>]*>(?:[\[({=,|]|&#x0(?:0028|003D|002C|007B|2264|2265|27E8|2329);)</mo>)<mo>&#x02212;</mo>"
)
"""A minus after a bracket, comma or relation, which is the sign of a number."""


def breakable(tex: str) -> list[str]:
    r"""TeX in pieces that begin with a relation, plus or minus outside all brackets.

    Examples
    --------
    >>> breakable(r"f(a + b) \le c + \frac{d = e}{2}")
    ['f(a + b) ', '\\le c ', '+ \\frac{d = e}{2}']
    """
    pieces, depth, begun = [], 0, 0
    for found in re.finditer(r"[{(\[]|[})\]]|\\(?:le|ge|leq|geq)(?![a-zA-Z])|=| [+-] ", tex):
        sign = found.group().strip()
        if sign in "{([":
            depth += 1
        elif sign in "})]":
            depth -= 1
        elif depth == 0 and found.start() > begun:
            place = found.end() - len(found.group().lstrip())
            pieces.append(tex[begun:place])
            begun = place
    return [*pieces, tex[begun:]]


def _button(slug: str, words: str, pressed: bool = False) -> str:
    state = "true" if pressed else "false"
    return (
        f'<button type="button" class="{slug}" data-status="{slug}" '
        f'aria-pressed="{state}">{escape(words)}</button>'
    )


def _slug(status: Status) -> str:
    return status.lower().replace(" ", "-")


def _card(entry: Entry) -> str:
    statement = entry.statement
    slug = _slug(statement.status)
    texts = [
        ("Claim", statement.claim),
        ("Assumed", "; ".join(statement.assumed)),
        ("Correction", statement.correction),
        ("Proof", statement.proof),
        ("Checked", statement.method),
        ("Tested", statement.tested),
    ]
    fields = "".join(f"<dt>{name}</dt><dd>{typeset(text)}</dd>" for name, text in texts if text)
    source = re.sub(r" *\([\w:. -]+\)", "", statement.paper, count=1)  # without the label
    source = source.replace("none;", "Ours, not the paper's;", 1).lstrip(", ")
    slow = counted(entry.left_out, "slow check")
    left_out = f"<li class=left>{slow} left out</li>" if entry.left_out else ""
    return (
        f'<article data-status="{slug}" id="{escape(statement.label, quote=True)}">'
        f'<header><span class="badge {slug}">{statement.status}</span>'
        f"<h2>{typeset(statement.title)}</h2></header>"
        f"<p class=paper>{escape(source)}</p><dl>{fields}</dl>"
        f"<ul>{''.join(map(_evidence, entry.outcomes))}{left_out}</ul></article>"
    )


def _evidence(outcome: Outcome) -> str:
    mark, state = ("✓", "for") if outcome.agrees else ("✗", "against")
    slack = "" if outcome.slack is None else f"slack {number(outcome.slack)} · "
    return (
        f"<li class={state}><b>{mark}</b><div>{escape(outcome.name)}"
        f"<small>{outcome.kind} · {slack}{outcome.seconds:.2f} s</small>"
        f"<p>{typeset(outcome.detail)}</p></div></li>"
    )


STYLE = """
:root { color-scheme: light dark; --ink: #1c1e21; --soft: #5c6470; --line: #dfe2e7;
  --paper: #fbfbfa; --card: #fff; --green: #1a7f4b; --teal: #0f7285; --amber: #9a6100;
  --red: #b3261e; --violet: #7444b8; --blue: #2458b3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e7e9; --soft: #9aa3af; --line: #33383f;
  --paper: #15171a; --card: #1c1f23; --green: #5cc98f; --teal: #57c2d4; --amber: #e0aa4e;
  --red: #f28b82; --violet: #c3a0f5; --blue: #8ab4f8; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 54rem; padding: 2.5rem 1.25rem 4rem; color: var(--ink);
  background: var(--paper); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.05rem; line-height: 1.4; margin: 0; font-weight: 600; }
.summary { margin: 0 0 1.2rem; color: var(--soft); }
.summary.against { color: var(--red); font-weight: 600; }
nav { display: flex; flex-wrap: wrap; gap: .4rem; position: sticky; top: 0; padding: .7rem 0;
  background: var(--paper); z-index: 1; }
.legend dl { grid-template-columns: 7.2rem 1fr; font-size: .9rem; padding: .6rem 0; }
summary { cursor: pointer; color: var(--soft); font-size: .9rem; }
input { font: .87rem/1 system-ui, sans-serif; color: var(--ink); background: var(--card);
  border: 1px solid var(--line); border-radius: 99px; padding: .38rem .8rem; flex: 1 1 9rem; }
button, .badge { font: 600 .74rem/1 system-ui, sans-serif; letter-spacing: .03em;
  color: var(--tone, var(--ink)); border: 1px solid currentColor; border-radius: 99px;
  padding: .38rem .7rem; background: transparent; white-space: nowrap; }
button { cursor: pointer; }
button[aria-pressed=true] { background: var(--tone, var(--ink)); color: var(--paper);
  border-color: transparent; }
.badge { border-radius: 4px; padding: .28rem .45rem; flex: none; }
.holds, .tight { --tone: var(--green); } .loose, .typo { --tone: var(--teal); }
.proof-gap { --tone: var(--amber); } .false { --tone: var(--red); }
.repaired { --tone: var(--violet); } .open { --tone: var(--blue); }
article { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 1rem 1.2rem; margin: .9rem 0; scroll-margin-top: 4rem; }
article[hidden] { display: none; }
header { display: flex; gap: .7rem; align-items: baseline; }
.paper { margin: .15rem 0 .7rem; color: var(--soft); font-size: .87rem; }
dl { display: grid; grid-template-columns: 6.2rem 1fr; gap: .35rem .8rem; margin: 0; }
dt { color: var(--soft); font-size: .87rem; padding-top: .1rem; }
dd { margin: 0; min-width: 0; overflow-wrap: break-word; overflow-x: auto; overflow-y: hidden; }
ul { list-style: none; margin: .9rem 0 0; padding: .7rem 0 0; border-top: 1px solid var(--line);
  font-size: .9rem; }
li { display: flex; gap: .6rem; margin: .25rem 0; }
li b { color: var(--green); } li.against b, li.against p { color: var(--red); }
li.left { color: var(--soft); padding-left: 1.4rem; }
li div { min-width: 0; } li small { color: var(--soft); margin-left: .6rem; }
li p { margin: 0; color: var(--soft); overflow-wrap: anywhere; }
math { font-size: 1.04em; }
@media (max-width: 36rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .3rem; } }
@media print { nav { display: none; } article { break-inside: avoid; } }
"""

SCRIPT = """
const buttons = [...document.querySelectorAll("nav button")];
const search = document.querySelector("nav input");
function show() {
  const pressed = buttons.find(button => button.getAttribute("aria-pressed") === "true");
  const wanted = pressed.dataset.status;
  const words = search.value.toLowerCase().split(/\\s+/);
  for (const card of document.querySelectorAll("article")) {
    const text = (card.id + " " + card.textContent).toLowerCase();
    card.hidden = wanted !== "all" && card.dataset.status !== wanted
      || !words.every(word => text.includes(word));
  }
}
for (const button of buttons) button.addEventListener("click", () => {
  for (const other of buttons) other.setAttribute("aria-pressed", other === button);
  show();
});
search.addEventListener("input", show);
"""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Ledger of the paper's statements</title>
<style>{style}</style>
</head>
<body>
<h1>What became of the paper's statements</h1>
<p>The paper: H. Lu and R. M. Freund, <i>Generalized Stochastic Frank–Wolfe Algorithm with
Stochastic “Substitute” Gradient for Structured Convex Optimization</i>, Mathematical
Programming 187 (2021) 317–349, read in the source of its preprint arXiv:1807.07680, the revised
version, whose abstract names the “linear prediction” property. Its numbers are used, such as
Theorem 3.2. Checks decide each verdict, and each check must catch bugs that are
planted in what it checks. Proofs and counterexamples in full:
<code>proofs_check/note/note.pdf</code>.</p>
<p class="summary{against}">{summary}</p>
<details class="legend"><summary>What the verdicts mean</summary><dl>{legend}</dl></details>
<nav aria-label="Filter by verdict and words">{buttons}<input type="search"
  placeholder="words, such as Theorem 3.2" aria-label="Show entries with these words"></nav>
<main>
{entries}
</main>
<script>{script}</script>
</body>
</html>
"""
