/**
 * A separate process that submits a batch of candidates. Arguments: Redis address, prefix, key, number of candidates. Prints
 * `submitted` if it comes so far.
 */
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addCandidateBatch } from '../../src/producers/flows/candidate-batch.js';

const [, , redisUrl = '', prefix = '', key = '', count = ''] = process.argv;
const fleet = await FleetClient.open({ redisUrl, prefix });
const candidates = Array.from({ length: Number(count) }, (_, at) => ({
  solution: { content: `c = ${at}\n` },
}));
await addCandidateBatch(fleet, { candidates, evaluation: { queue: 'evaluate', name: 'score' } }, { key });
process.stdout.write('submitted\n');
await fleet.close();
