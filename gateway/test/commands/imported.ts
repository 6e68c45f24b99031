import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Declared, DeclaredChannel } from '#config/index.ts';
import { readImported } from '../support/imported-file.ts';
import { createWorkplace } from './support.ts';

/** Imports a handwritten file of another gateway. All its secrets contain `secret-`, so that no run may print them. */
export async function importFile(format: string, text: string) {
  const { folder, sluice } = createWorkplace(null);
  writeFileSync(join(folder, 'other'), text);
  const outcome = await sluice('import', format, 'other');
  expect(outcome.out + outcome.err).not.toContain('secret-');
  return { ...outcome, folder, sluice };
}

/** The written file as `sluice check` reads it, with every variable set that the command asks for. */
export function declaredBy({ out, err }: { readonly out: string; readonly err: string }): Declared {
  return readImported(out, /^set these variables: (.*)$/m.exec(err)?.[1]?.split(', ') ?? []);
}

export const whatAndWhere = ({ name, provider, baseUrl, models }: DeclaredChannel) => [
  name,
  provider,
  baseUrl,
  models.map((model) => `${model.name}=${model.upstream}`).join(),
];
