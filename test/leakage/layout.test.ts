import { describe, expect, it } from 'vitest';
import { analyzeLeakage, type LeakFinding, repairLeak } from '../../src/leakage/index.js';
import { labeledScripts } from './labeled-scripts.js';

const scripts = ['sample.jsonl', 'first.txt', 'third.txt', 'kinds.txt', 'runnable.txt']
  .flatMap(labeledScripts)
  .filter(({ leaky }) => leaky)
  // Repairing takes several times what finding does: one script of three.
  .map(({ id, script }, at) => ({
    id,
    script: script.replaceAll('\r\n', '\n'),
    isRepaired: at % 3 === 0,
  }));

/** Each script is compared with several layouts of it. */
const analyses = new Map<string, ReturnType<typeof analyzeLeakage>>();
function findingsOf(source: string): Promise<readonly LeakFinding[]> {
  const analysis = analyses.get(source) ?? analyzeLeakage(source);
  analyses.set(source, analysis);
  return analysis.then(({ findings }) => findings);
}

const kinds = async (source: string): Promise<string[]> =>
  (await findingsOf(source)).map(({ kind, line, endLine }) => `${kind} ${line}-${endLine}`);

describe('layout', () => {
  it.each(scripts)(
    '$id: the same findings with CR LF, and repairs keep to CR LF',
    async ({ script, isRepaired }) => {
      const source = script.replaceAll('\n', '\r\n');
      expect(await kinds(source)).toEqual(await kinds(script));
      for (const { codeBlock } of isRepaired ? await findingsOf(source) : []) {
        const repair = await repairLeak(source, codeBlock);
        if (repair.ok) expect(repair.replacement).not.toMatch(/(?<!\r)\n/);
      }
    },
  );

  it.each(scripts)(
    '$id: the same findings inside a function, and repairs keep the indentation',
    async ({ script, isRepaired }) => {
      if (/^[%!?]|"""/m.test(script)) return;
      const indented = script.trimEnd().replaceAll(/^(?=.)/gm, '\t');
      const source = `def main():\n${indented}\n\n\nmain()\n`;
      const found = (await analyzeLeakage(source)).findings;
      expect(found.map(({ kind }) => kind)).toEqual((await findingsOf(script)).map(({ kind }) => kind));
      for (const { codeBlock } of isRepaired ? found : []) {
        const repair = await repairLeak(source, codeBlock);
        if (!repair.ok) continue;
        for (const line of repair.replacement.split('\n'))
          if (line.trim() !== '') expect(line).toMatch(/^\t/);
      }
    },
  );

  it('a byte order mark and no last line break change nothing', async () => {
    const [first] = scripts;
    if (first === undefined) throw new Error('no scripts');
    const plain = (await findingsOf(first.script)).map(({ kind }) => kind);
    const withBom = (await analyzeLeakage(`\ufeff${first.script.trimEnd()}`)).findings;
    expect(withBom.map(({ kind }) => kind)).toEqual(plain);
  });
});
