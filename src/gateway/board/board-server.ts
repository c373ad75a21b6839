import { ExpressAdapter } from '@bull-board/express';

type EntryRoute = Parameters<ExpressAdapter['setEntryRoute']>[0];

/** Whether a line of the board's page loads something from another server. */
function isForeign(line: string): boolean {
  return line.includes('<link') && line.includes('href="https://');
}

/**
 * Serves Bull Board. Its page asks another server for fonts, which the content security policy of this gateway blocks; the
 * page is sent without that request, and the browser's own fonts are used.
 */
export class BoardServer extends ExpressAdapter {
  override setEntryRoute(entry: EntryRoute): this {
    this.app[entry.method](entry.route, (_request, response) => {
      const { name, params } = entry.handler({ basePath: this.basePath, uiConfig: this.uiConfig });
      response.render(name, params, (error: Error | null, page = '') => {
        if (error !== null) throw error;
        const lines = page.split('\n').filter((line: string) => !isForeign(line));
        response.send(lines.join('\n'));
      });
    });
    return this;
  }
}
