import { type Html, type HtmlValue, html } from './html.js';

export interface PageParts {
  readonly title: string;
  readonly content: HtmlValue;
  /** Script in the assets folder. */
  readonly script?: string;
  /** Whether a log-out button makes sense. */
  readonly loggedIn?: boolean;
  /** Which page it is, for the navigation. */
  readonly at?: string;
  /** Whether the reader's token is bound to a tenant, so only some pages may be read. */
  readonly isBound?: boolean;
}

const PAGES = [
  ['/', 'Overview'],
  ['/runs', 'Runs'],
  ['/board', 'Board'],
  ['/docs', 'API'],
  ['/metrics', 'Metrics'],
] as const;
const PAGES_OF_TENANTS: ReadonlySet<string> = new Set(['/runs', '/docs']);

/** A whole page with the navigation. */
export function page({ title, content, script, loggedIn, at, isBound }: PageParts): Html {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/pages.css">
${script !== undefined && html`<script src="/assets/${script}" defer></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<strong>solution-fleet</strong>
<nav aria-label="Pages">${PAGES.filter(([path]) => isBound !== true || PAGES_OF_TENANTS.has(path)).map(
    ([path, name]) => html`<a href="${path}"${path === at && html` aria-current="page"`}>${name}</a> `,
  )}</nav>
${loggedIn === true && html`<form method="post" action="/logout"><button>Log out</button></form>`}
</header>
<main id="main" tabindex="-1">${content}</main>
</body>
</html>`;
}
