import type { Command } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import type { Config } from '../../config/settings.js';
import { packageVersion } from '../../package-root.js';
import { interruptible } from '../interruption.js';
import { assertDirectory } from '../named-files.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { printNote } from '../terminal/print.js';

interface McpOptions {
  readonly root: readonly string[];
  readonly url?: string;
}

export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('Tools for an agent (Model Context Protocol), by standard input and output.')
    .option(
      '--root <dir>',
      'folder below which the agent may name files; may be repeated (default: none)',
      (root: string, others: readonly string[]) => [...others, root],
      [] as readonly string[],
    )
    .option('--url <url>', 'gateway of a fleet, for tools that need one')
    .addHelpText(
      'after',
      '\nAn agent starts it and ends it. docs/agents.md shows how it is registered. FLEET_TOKEN is the token for --url; without --url, FLEET_REDIS_URL names the fleet.',
    )
    .action(serve);
}

function serve({ root, url }: McpOptions): Promise<void> {
  const config = loadConfig();
  return interruptible(async (signal) => {
    for (const folder of root) await assertDirectory('--root', folder);
    const [{ serveByStdio }, { LocalAnalysis }, { rootedFiles }] = await Promise.all([
      import('../../mcp/serve-stdio.js'),
      import('../mcp/local-analysis.js'),
      import('../mcp/rooted-files.js'),
    ]);
    const analysis = new LocalAnalysis(config);
    const jobs = await fleetJobs(config, url);
    const host = {
      version: packageVersion(),
      analysis: () => analysis.get(),
      ...(root.length === 0 ? {} : { files: await rootedFiles(root, config) }),
      ...(jobs === undefined ? {} : { jobs }),
      // The user who starts the process may do what it does.
      assertRole: () => undefined,
    };
    try {
      await serveByStdio(host, {
        input: process.stdin,
        output: process.stdout,
        signal,
        log: (message) => void printNote(escapeControlCharsInLine(message)),
      });
      signal.throwIfAborted();
    } finally {
      await Promise.all([analysis.close(), jobs?.close()]);
    }
  });
}

async function fleetJobs(config: Config, url: string | undefined) {
  if (url === undefined && config.redisUrl === undefined) return undefined;
  const { jobsByRedis, jobsByUrl } = await import('../mcp/fleet-jobs.js');
  if (url !== undefined) return jobsByUrl(url, process.env.FLEET_TOKEN);
  return config.redisUrl === undefined ? undefined : jobsByRedis(config, config.redisUrl);
}
