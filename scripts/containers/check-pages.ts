import { must, type Report } from '../testing/checks.js';
import type { Project } from './project.js';

/** What people see in a browser, through the published port. */
export async function checkPages(report: Report, project: Project, token: string): Promise<void> {
  const get = (path: string, headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
    fetch(new URL(path, project.gatewayUrl), { headers, redirect: 'manual' });

  await report.check('nobody gets in without a token', async () => {
    for (const path of ['/v1/jobs', '/metrics', '/board/']) {
      const { status } = await get(path, {});
      must([302, 303, 401].includes(status), `${path} answers ${status}`);
    }
    return undefined;
  });

  await report.check(
    'the overview and the board load through the published port, with all their files',
    async () => {
      must((await get('/')).status === 200, `/ answers ${(await get('/')).status}`);
      const board = await get('/board/');
      const html = await board.text();
      must(board.status === 200 && html.includes('<html'), `/board/ answers ${board.status}`);
      const base = /<base href="([^"]+)"/.exec(html)?.[1] ?? '/board/';
      const files = [...html.matchAll(/(?:src|href)="([^"]+\.(?:js|css|svg|png|ico))"/g)].map(
        ([, file = '']) => file,
      );
      must(files.length > 0, 'it loads no files');
      for (const file of files) {
        const path = new URL(file, new URL(base, project.gatewayUrl)).pathname;
        must((await get(path)).status === 200, `${path} does not load`);
      }
      const queues = await get('/board/api/queues');
      must(queues.status === 200 && (await queues.text()).includes('solution-check'), 'its data do not load');
      return `${files.length} files`;
    },
  );
}
