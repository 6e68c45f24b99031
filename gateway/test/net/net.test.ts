import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Weights } from '#body-work/body-pool.ts';
import { bodyPlaces } from '#test/support/body-places.ts';
import { endings, type Ending } from './endings.ts';
import { modalities, type Modality } from './modalities.ts';
import { closeStages, Stage } from './stage.ts';

/*
 * What may not change while the inside does: for each kind of request and each way in which it can end, the bytes to
 * the client and to the upstream, the row, and the calls of money and health. A file per kind; says nothing about whether
 * that is right, only that it is what it was when somebody last looked.
 */

const isWriting = process.env['SLUICE_WRITE_GOLDENS'] === '1';
const fileOf = ({ name }: Modality) => path.join(import.meta.dirname, 'goldens', `${name}.txt`);

afterAll(closeStages);

async function play(
  modality: Modality,
  { name, options, before, play, impossible }: Ending,
  weights?: Weights,
) {
  const reason = impossible?.(modality) ?? null;
  if (reason !== null) return `impossible: ${reason}\n`;
  const id = `req_${modality.name}_${name.replaceAll(/\W+/g, '-')}`;
  const stage = new Stage(id, modality, { ...options, ...(weights && { weights }) });
  before?.(stage);
  stage.start();
  await play(stage, modality);
  return stage.end();
}

describe.skipIf(isWriting).each(modalities)('$name', (modality) => {
  const text = isWriting ? '' : readFileSync(fileOf(modality), 'utf8');
  const sections = text.split(/^# /m).slice(1);
  const golden = new Map(
    sections.map((section): [string, string] => {
      const end = section.indexOf('\n');
      return [section.slice(0, end), section.slice(end + 1).trimEnd()];
    }),
  );

  describe.each(Object.entries(bodyPlaces))('%s', (_, weights) => {
    test.each(endings)('$name', async (ending) => {
      const found = await play(modality, ending, weights);
      expect(found.trimEnd(), 'SLUICE_WRITE_GOLDENS=1 writes the files').toBe(
        golden.get(ending.name),
      );
    });
  });

  test('has no ending that nothing plays', () => {
    expect([...golden.keys()]).toEqual(endings.map(({ name }) => name));
  });
});

test.runIf(isWriting)('the files are written', async () => {
  for (const modality of modalities) {
    const found: string[] = [];
    for (const ending of endings) found.push(`# ${ending.name}\n${await play(modality, ending)}\n`);
    expect(found).toHaveLength(endings.length);
    writeFileSync(fileOf(modality), found.join(''));
  }
});
