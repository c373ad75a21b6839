import type { Config } from '../../config/settings.js';
import type { AnswerAgent } from '../../gateway/agents/mount-agents.js';
import { packageVersion } from '../../package-root.js';
import { LocalAnalysis } from './local-analysis.js';

/** How a gateway answers agents: with the analysis of its own process, and the jobs that their tokens may submit. */
export function agentAnswers(config: Config): { readonly answer: AnswerAgent; close(): Promise<void> } {
  const analysis = new LocalAnalysis(config);
  const version = packageVersion();
  return {
    answer: async ({ request, response, body, signal, jobs, assertRole }) => {
      // Most gateways never have an agent.
      const { answerByHttp } = await import('../../mcp/serve-http.js');
      const host = { version, analysis: () => analysis.get(), jobs, assertRole };
      await answerByHttp(host, request, response, body, signal);
    },
    close: () => analysis.close(),
  };
}
