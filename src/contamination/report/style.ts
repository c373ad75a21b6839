/** The report's style sheet: light and dark, side by side or, on a narrow page, one below the other. */
export const STYLE = `
:root { color-scheme: light dark; --page: #fff; --text: #1c1f24; --soft: #5b6270; --line: #d9dde3; --panel: #f6f7f9;
  --bad: #b3261e; --good: #1b6e3c; --odd: #fff3bf; }
@media (prefers-color-scheme: dark) { :root { --page: #15171b; --text: #e6e8eb; --soft: #9aa2af; --line: #343a44;
  --panel: #1d2026; --bad: #ff8a80; --good: #7bd88f; --odd: #5c4b00; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 90rem; padding: 1rem; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin: 0; display: inline; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; } .wide { overflow-x: auto; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: 1rem 0; padding: .6rem .8rem; }
summary { cursor: pointer; } .soft { color: var(--soft); } .reason { overflow-wrap: anywhere; } td.reason { min-width: 14rem; }
.verdict { font-weight: 600; } .contaminated { color: var(--bad); } .clean { color: var(--good); }
.sides { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .8rem; margin-top: .8rem; }
@media (max-width: 48rem) { .sides { grid-template-columns: minmax(0, 1fr); } }
pre { margin: 0; padding: .6rem; max-height: 40rem; overflow: auto; background: var(--panel); border-radius: .4rem;
  font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; direction: ltr;
  unicode-bidi: isolate; tab-size: 4; }
mark { color: inherit; border-radius: .2rem; padding: 0 .1rem; } .unseen { background: var(--odd); font-size: .85em; }
.c0 { background: #ffd8a8; } .c1 { background: #a5d8ff; } .c2 { background: #b2f2bb; } .c3 { background: #eebefa; }
.c4 { background: #ffec99; } .c5 { background: #99e9f2; } .c6 { background: #ffc9c9; } .c7 { background: #d0bfff; }
@media (prefers-color-scheme: dark) {
  .c0 { background: #70410f; } .c1 { background: #0b4a78; } .c2 { background: #17572a; } .c3 { background: #632a75; }
  .c4 { background: #665200; } .c5 { background: #0b5560; } .c6 { background: #7a2626; } .c7 { background: #44307f; } }
`;
