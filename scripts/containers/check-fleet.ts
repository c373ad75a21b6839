import type { HttpJob } from '../../src/http-client/answers.js';
import { FleetHttpClient } from '../../src/http-client/fleet-http-client.js';
import { must, type Report, until } from '../testing/checks.js';
import type { Project } from './project.js';
import { type Disturbance, type Provider, scriptOf } from './provider.js';

const JOBS = 500;
const RUN = 'containers';
/** Jobs that run when the workers are stopped. */
const DRAINED = 60;
const HEALTH_LIMIT_MS = 120_000;
const JOBS_LIMIT_MS = 600_000;
/** Compose kills a worker that takes longer, in seconds. */
const GRACE_SECONDS = 60;

/** The fleet under load: scaled, killed, restarted and stopped, with every job looked at in the end. */
export class FleetCheck {
  readonly #report: Report;
  readonly #project: Project;
  readonly #provider: Provider;
  readonly #client: FleetHttpClient;
  readonly #disturbances: Disturbance[] = [];
  readonly #submitted = new Map<string, string>();

  constructor(report: Report, project: Project, provider: Provider, token: string) {
    this.#report = report;
    this.#project = project;
    this.#provider = provider;
    this.#client = new FleetHttpClient({ url: project.gatewayUrl, token, retryTimeoutMs: 120_000 });
  }

  async run(): Promise<void> {
    const report = this.#report;
    await report.check(`${JOBS} jobs are accepted over HTTP`, () => this.#submit('job', JOBS));
    await report.check('scaled to 8 workers', () => this.#during(20, () => this.#scale(8)));
    await report.check('a worker container is killed and replaced', () =>
      this.#during(60, () => this.#killWorker()),
    );
    await report.check('Redis is restarted', () => this.#during(140, () => this.#restartRedis()));
    await report.check('scaled to 1 worker', () => this.#during(240, () => this.#scale(1)));
    await report.check('the gateway is stopped and started', () =>
      this.#during(260, () => this.#restartGateway()),
    );
    await report.check('scaled to 4 workers', () => this.#scale(4));
    await report.check('every job has ended once, with its own result', () => this.#allEnded());
    await report.check('a job that is submitted again with its key is the same job', () =>
      this.#submitAgain(),
    );
    await report.check('no answer was paid for twice, but those on their way when something broke', () => {
      const { excused, others } = this.#provider.paidAgain(this.#disturbances);
      must(others.length === 0, `paid again: ${others.join(', ')}`);
      const answers = this.#provider.answersFor([...this.#submitted.keys()]);
      report.fact(`${this.#submitted.size} jobs, ${answers} answers, ${excused} of them for a second time`);
      return undefined;
    });
    await report.check('`compose stop` ends workers in order and in time, and their jobs go on later', () =>
      this.#drain(),
    );
    await report.check('the health of gateway and workers follows Redis', () => this.#health());
  }

  async #submit(name: string, count: number): Promise<undefined> {
    const names = Array.from({ length: count }, (_, at) => `${name}_${at}`);
    const answers = await this.#client.addBatch(
      names.map((marker) => ({
        kind: 'solution-check' as const,
        payload: { solution: { content: scriptOf(marker) }, tags: { run: RUN } },
        key: marker,
      })),
    );
    for (const [at, answer] of answers.entries()) {
      must(!('error' in answer), `job ${at} was refused`);
      this.#submitted.set(names[at] ?? '', answer.id);
    }
    return undefined;
  }

  /** Does something while jobs run: at the latest once so many have been answered. */
  async #during(answers: number, action: () => Promise<string | undefined>): Promise<string | undefined> {
    await until(`${answers} answers`, JOBS_LIMIT_MS, async () =>
      this.#provider.answered >= answers ? true : undefined,
    );
    must(this.#provider.answered < JOBS, 'all jobs have ended before');
    return action();
  }

  async #scale(workers: number): Promise<string> {
    await this.#project.compose(['up', '-d', '--no-recreate', '--scale', `worker=${workers}`, 'worker']);
    const running = (await this.#project.containers('worker')).filter(({ state }) => state === 'running');
    must(running.length === workers, `${running.length} workers run`);
    return `at ${this.#provider.answered} answers`;
  }

  async #killWorker(): Promise<string> {
    const [victim] = await this.#project.containers('worker');
    must(victim !== undefined, 'no worker runs');
    const underWay = this.#provider.open;
    await this.#disturb('kill', async () => {
      await this.#project.docker.run(['kill', '--signal', 'KILL', victim.id]);
    });
    const before = (await this.#project.containers('worker')).filter(
      ({ state }) => state === 'running',
    ).length;
    await this.#project.compose(['up', '-d', '--no-recreate', '--scale', 'worker=8', 'worker']);
    return `${before} workers were left, ${underWay} calls under way`;
  }

  async #restartRedis(): Promise<string> {
    await this.#disturb('Redis restart', async () => {
      await this.#project.compose(['restart', 'redis']);
    });
    return `${this.#provider.open} calls under way`;
  }

  async #restartGateway(): Promise<undefined> {
    const before = this.#provider.answered;
    await this.#project.compose(['stop', 'gateway']);
    await until('workers go on without the gateway', JOBS_LIMIT_MS, async () =>
      this.#provider.answered > before ? true : undefined,
    );
    await this.#project.compose(['start', 'gateway']);
    await until('the gateway answers again', HEALTH_LIMIT_MS, () => this.#isServing());
    return undefined;
  }

  async #allEnded(): Promise<string> {
    const began = performance.now();
    const jobs = await this.#waitForAll();
    must(jobs.length === this.#submitted.size, `${jobs.length} of ${this.#submitted.size} jobs are there`);
    const listed = await this.#client.jobs({ run: RUN, limit: 1_000 });
    must(listed.length === jobs.length, `${listed.length} jobs are listed`);
    for (const [marker, job] of jobs) {
      must(job.state === 'completed', `${marker}: ${job.state} ${JSON.stringify(job.error)}`);
      const { solution } = job.result as { solution?: { content?: string } };
      must(
        solution?.content === scriptOf(marker),
        `${marker} has the result of another job: ${solution?.content}`,
      );
    }
    return `${Math.round((performance.now() - began) / 1_000)} s after the last change`;
  }

  async #waitForAll(): Promise<(readonly [marker: string, job: HttpJob])[]> {
    const open = [...this.#submitted];
    const ended: (readonly [string, HttpJob])[] = [];
    const waitForSome = async () => {
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        const [marker, id] = next;
        ended.push([marker, await this.#client.wait(id)]);
      }
    };
    await Promise.all(Array.from({ length: 16 }, waitForSome));
    return ended;
  }

  async #submitAgain(): Promise<undefined> {
    const before = new Map(this.#submitted);
    const answered = this.#provider.answers.length;
    await this.#submit('job', 20);
    for (const [marker, id] of before)
      must(this.#submitted.get(marker) === id, `${marker} became another job`);
    must(this.#provider.answers.length === answered, 'it was asked again');
    return undefined;
  }

  async #drain(): Promise<undefined> {
    const answers = this.#provider.answers.length;
    const workers = await this.#project.containers('worker');
    await this.#submit('drained', DRAINED);
    await until('calls are under way', JOBS_LIMIT_MS, async () =>
      this.#provider.answers.length > answers + 10 ? true : undefined,
    );
    const began = performance.now();
    await this.#project.compose(['stop', 'worker']);
    const seconds = (performance.now() - began) / 1_000;
    for (const { id, name } of workers) {
      const code = await this.#project.docker.inspect<number>(id, '.State.ExitCode');
      must(code === 0, `${name} ended with ${code}`);
    }
    must(seconds < GRACE_SECONDS, `it took ${seconds} s`);
    const left = (await this.#client.jobs({ run: RUN, limit: 1_000 })).filter(
      ({ state }) => state === 'active',
    );
    must(left.length === 0, `${left.length} jobs are still active without a worker`);
    await this.#project.compose(['start', 'worker']);
    await this.#allEnded();
    const { others } = this.#provider.paidAgain(this.#disturbances);
    must(others.length === 0, `paid again: ${others.join(', ')}`);
    this.#report.fact(`compose stop of ${workers.length} busy workers: ${seconds.toFixed(1)} s`);
    return undefined;
  }

  async #health(): Promise<string> {
    const states = async (wanted: string) => {
      const found = [
        ...(await this.#project.containers('gateway')),
        ...(await this.#project.containers('worker')),
      ];
      return found.every(({ health }) => health === wanted) ? true : undefined;
    };
    await until('all are healthy', HEALTH_LIMIT_MS, () => states('healthy'));
    await this.#project.compose(['stop', 'redis']);
    const began = performance.now();
    await until('all are unhealthy', HEALTH_LIMIT_MS, () => states('unhealthy'));
    const seconds = Math.round((performance.now() - began) / 1_000);
    await this.#project.compose(['start', 'redis']);
    await until('all are healthy again', HEALTH_LIMIT_MS, () => states('healthy'));
    return `unhealthy ${seconds} s after Redis was stopped`;
  }

  async #disturb(what: string, action: () => Promise<void>): Promise<void> {
    const from = Date.now();
    await action();
    this.#disturbances.push({ what, from, to: Date.now() });
  }

  async #isServing(): Promise<true | undefined> {
    try {
      return (await fetch(`${this.#project.gatewayUrl}/healthz`)).ok ? true : undefined;
    } catch (thrown) {
      // Nobody listens yet.
      if (thrown instanceof TypeError) return undefined;
      throw thrown;
    }
  }
}
