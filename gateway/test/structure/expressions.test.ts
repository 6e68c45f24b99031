import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAst } from 'vitest/node';
import { growthOf } from '../../../lint/growth.ts';
import { pumpedTexts } from '../../../lint/pumped-texts.ts';
import { expectLinear } from '../support/growth.ts';
import { runs } from '../support/runs.ts';

/*
 * The rule `sluice/linear-expression` proves it of the text of an expression; here each is asked, with texts of
 * repetitions made from itself.
 */

const root = path.resolve(import.meta.dirname, '../../..');

function expressionsOf(file: string): RegExp[] {
  const text = readFileSync(path.join(root, file), 'utf8');
  const found: RegExp[] = [];
  JSON.stringify(parseAst(file.endsWith('.ts') ? stripTypeScriptTypes(text) : text), (_, node) => {
    const regex = (node as { regex?: { pattern: string; flags: string } } | null)?.regex;
    if (regex !== undefined) found.push(new RegExp(regex.pattern, regex.flags));
    return typeof node === 'bigint' ? null : (node as unknown);
  });
  return found;
}

const expressions = new Map(
  globSync(['{gateway,simulator}/src/**/*.{ts,js}', 'gateway/importers/**/*.ts'], { cwd: root })
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap(expressionsOf)
    .map((expression) => [String(expression), expression]),
);

function assertLinear(expression: RegExp): void {
  for (const text of pumpedTexts(expression)) {
    expectLinear(
      (size) => {
        const pumped = text(size);
        return () => pumped.search(expression);
      },
      { largest: runs(32_768, 131_072), label: String(expression) },
    );
  }
}

describe('expressions', () => {
  test('are found', () => {
    expect(expressions.size).toBeGreaterThan(150);
  });

  test('are all known to the rule as linear', () => {
    const growing = [...expressions.values()].filter(
      ({ source, flags }) => growthOf(source, flags) !== null,
    );
    expect(growing).toEqual([]);
  });

  test('take twice as long for a text of twice the length', { timeout: 120_000 }, () => {
    for (const expression of expressions.values()) assertLinear(expression);
  });

  test.each([/^\S+@\S+\.\S+$/, /^data:([^;,]*)[^,]*;base64,/i, /\s+$/])(
    'of the kind of %s fail there',
    (expression) => {
      expect(() => assertLinear(expression)).toThrow(/to be less than/);
    },
  );
});
