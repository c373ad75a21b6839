import { jsonReply, type MessagesApi, startMessagesApi } from '../../test/support/messages-api.js';
import { must } from '../testing/checks.js';
import type { Docker } from './docker.js';

/** An answer that the provider has given, and would bill. */
interface Answer {
  readonly job: string;
  readonly arrivedAt: number;
  /** When it was sent whole; undefined: the client left before. */
  sentAt: number | undefined;
}

/** A time during which something was broken, in milliseconds since 1970. */
export interface Disturbance {
  readonly what: string;
  readonly from: number;
  readonly to: number;
}

/** How long a worker may take to write an answer to the ledger, in milliseconds. */
const WRITE_MS = 1_000;
/** Identifies a script of this run. */
const MARKER = /marker_(\w+)/;

/** The script of a job, which no other has. */
export function scriptOf(job: string): string {
  return `marker_${job} = 1\n`;
}

/** A replacement for the Messages API that containers can reach: it finds no leakage, after a while. */
export class Provider {
  readonly answers: readonly Answer[];
  readonly url: string;
  readonly #api: MessagesApi;

  private constructor(api: MessagesApi, answers: readonly Answer[]) {
    this.#api = api;
    this.url = api.url;
    this.answers = answers;
  }

  /** @param delayMs how long an answer takes, at least and at most */
  static async start(docker: Docker, delayMs: readonly [number, number]): Promise<Provider> {
    const answers: Answer[] = [];
    const [least, most] = delayMs;
    const api = await startMessagesApi({
      host: await addressOfThisMachine(docker),
      reply: (request) => {
        const answer: Answer = {
          job: MARKER.exec(request.text)?.[1] ?? 'unknown',
          arrivedAt: Date.now(),
          sentAt: undefined,
        };
        answers.push(answer);
        const wait = least + ((answers.length * 7) % 10) * ((most - least) / 9);
        const sent = setTimeout(() => {
          answer.sentAt = Date.now();
        }, wait);
        void request.aborted.then(() => clearTimeout(sent));
        const found = { answers: [{ leakage_status: 'No Data Leakage', code_block: '' }] };
        return { ...jsonReply(found), delayMs: wait };
      },
    });
    return new Provider(api, answers);
  }

  /** How many requests were answered whole. */
  get answered(): number {
    return this.answers.filter(({ sentAt }) => sentAt !== undefined).length;
  }

  /** How many whole answers these jobs got. */
  answersFor(jobs: readonly string[]): number {
    const wanted = new Set(jobs);
    return this.answers.filter(({ job, sentAt }) => sentAt !== undefined && wanted.has(job)).length;
  }

  /** How many are being answered now, or were left by their client. */
  get open(): number {
    return this.answers.length - this.answered;
  }

  /**
   * Answers that were paid for a second time: those of a job that had an answer before. One is excused if the first answer
   * was on its way when something was broken.
   */
  paidAgain(disturbances: readonly Disturbance[]): { readonly excused: number; readonly others: string[] } {
    const first = new Map<string, Answer>();
    let excused = 0;
    const others: string[] = [];
    for (const answer of this.answers) {
      if (answer.sentAt === undefined) continue;
      const before = first.get(answer.job);
      if (before === undefined) {
        first.set(answer.job, answer);
        continue;
      }
      const wasOnItsWay = disturbances.some(
        ({ from, to }) => before.arrivedAt <= to && (before.sentAt ?? 0) + WRITE_MS >= from,
      );
      if (wasOnItsWay) excused += 1;
      else others.push(answer.job);
    }
    return { excused, others };
  }

  close(): Promise<void> {
    return this.#api.close();
  }
}

/** Where containers reach programs of this machine: the first address of the default network is that of its bridge. */
export async function addressOfThisMachine(docker: Docker): Promise<string> {
  const [config] = await docker.inspect<{ Subnet: string; Gateway?: string }[]>('bridge', '.IPAM.Config');
  must(config !== undefined, 'the default network of the engine has no addresses');
  return config.Gateway || config.Subnet.replace(/\.0\/\d+$/, '.1');
}
