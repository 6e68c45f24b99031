import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

/*
 * Phrases that a native reader reads twice, with a better word for each. Only phrases that are never right are listed
 * here, so that nobody has to argue with a test.
 */

const root = resolve(import.meta.dirname, '../../..');

interface Phrase {
  readonly pattern: RegExp;
  /** What to write instead. */
  readonly better: string;
  /** A sentence that the pattern refuses. */
  readonly refused: string;
  /** A similar sentence that is good English. */
  readonly fine: string;
}

const phrases: readonly Phrase[] = [
  {
    pattern: /(?<!\bthere )\b(?:is|are|was|were) none\b/i,
    better: 'name what is missing or invalid: “an invalid price”, “it is not a JSON object”',
    refused: 'A price that is none keeps the last one.',
    fine: 'Null if there is none.',
  },
  {
    pattern: /\b(?:what|that|which) (?:is|are) no (?!longer\b|more\b|less\b|different\b)/i,
    better: '“is not a …”',
    refused: 'Null for what is no JSON object.',
    fine: 'A key that is no longer valid.',
  },
  {
    pattern: /\bthere (?:is|are) none of\b/i,
    better: '“does not exist”',
    refused: 'A model that there is none of.',
    fine: 'There are none left.',
  },
  {
    pattern: /\b(?:goes|went) on\b(?! (?:the|a|its|top)\b)|\bgo on \w+ing\b/i,
    better: '“continue”, “keep”',
    refused: 'The gateway goes on without it.',
    fine: 'Each event goes on the wire; “Go on” is what the user writes.',
  },
  {
    pattern: /(?<!\b(?:is|are|was|were|be) )\ball the same\b/i,
    better: '“anyway”, “in any case”',
    refused: 'It is used all the same.',
    fine: 'The three forms are all the same.',
  },
  {
    pattern: /\b(?:and|that|which|to) (?:says?|said) so\b/i,
    better: '“reports it”, “states that …”',
    refused: 'The node runs and says so.',
    fine: 'A model has it only if the catalogue says so.',
  },
  {
    pattern: /\bmend(?:s|ed|ing)?\b/i,
    better: '“repair”, “fix”',
    refused: 'The request is mended.',
    fine: 'We recommend an amendment.',
  },
  {
    pattern: /\btold\b(?! apart\b| to\b)/i,
    better: '“reported”, “sent”, “stated”',
    refused: 'Losses are told in a header.',
    fine: 'It cannot be told apart from one that was told to stop.',
  },
  {
    pattern:
      /\bfor so long\b(?! that\b| as\b)|\bso many (?:milliseconds|seconds|times|bytes|rows)\b/i,
    better: 'name the quantity and its unit',
    refused: 'It waits for so long.',
    fine: 'It waits for so long that the client leaves.',
  },
  {
    pattern: /\b(?:is|are|was|were) away\b|\b(?:database|redis) away\b/i,
    better: '“unreachable”',
    refused: 'While the database is away, rows wait.',
    fine: 'The server is far away.',
  },
  {
    pattern: /\b(?:stands?|stood) there\b/i,
    better: '“is there”, “appears”',
    refused: 'A member that stands there twice.',
    fine: 'The simulator stands in for that server.',
  },
  {
    pattern: /\bas as\b/i,
    better: 'two sentences',
    refused: 'It takes as much memory as as many gateways.',
    fine: 'It takes as much memory as a gateway.',
  },
  {
    pattern: /\bfor leave\b/i,
    better: '“permission”',
    refused: 'The breaker is asked for leave.',
    fine: 'Clients leave.',
  },
];

/** Of these the comments are read, and the texts in quotes. */
const isSource = (file: string): boolean => /\.(?:ts|js|mjs|lua)$/.test(file);

const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '' && existsSync(join(root, file)));

const pages = tracked.filter((file) => file.endsWith('.md'));
const sources = tracked.filter(isSource);
// This file quotes what it refuses.
const self = 'gateway/test/structure/prose.test.ts';

interface Passage {
  readonly line: number;
  readonly text: string;
}

const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');

const passage = (whole: string, at: number, text: string): Passage => ({
  line: whole.slice(0, at).split('\n').length,
  text: text.replaceAll(/\s+/g, ' '),
});

/** The table rows, paragraphs and other lines of a page, without code. */
function passagesOfPage(text: string): Passage[] {
  const prose = text.replaceAll(/^ *```[^]*?^ *```/gm, blank).replaceAll(/`[^`\n]*`/g, blank);
  return Array.from(prose.matchAll(/^\|.*|(?:^(?!\s*$|\|).*\n?)+/gm), (match) =>
    passage(text, match.index, match[0]),
  );
}

const comments = /\/\*[^]*?\*\/|(?:\/\/[^\n]*\n\s*)*\/\/[^\n]*|(?:-- [^\n]*\n\s*)*-- [^\n]*/;
// Without what a template computes.
const computed = /\$\{[^}]*\}/g;
const quoted = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/;

/** The comments of a source, and its quoted texts of more than one word. */
function passagesOfSource(text: string): Passage[] {
  return Array.from(text.matchAll(new RegExp(`${comments.source}|${quoted.source}`, 'g')))
    .filter(([found]) => /^(?:\/|--)/.test(found) || /\w \w/.test(found))
    .map((match) =>
      passage(
        text,
        match.index,
        match[0].replaceAll(/^\s*(?:\/\*\*?|\*|\/\/|--)/gm, blank).replaceAll(computed, blank),
      ),
    );
}

/** Each phrase that is found, with the line where its passage begins, and what to write instead. */
function findings(passages: readonly Passage[]): string[] {
  return passages.flatMap(({ line, text }) =>
    phrases.flatMap(({ pattern, better }) => {
      const match = pattern.exec(text);
      return match === null ? [] : [`${line}: “${match[0]}” → ${better}`];
    }),
  );
}

describe('the phrases', () => {
  test.each(phrases)('$refused', ({ pattern, refused, fine }) => {
    expect(refused).toMatch(pattern);
    expect(fine).not.toMatch(pattern);
  });

  test('are found across the ends of lines, in comments and in texts, but not in code', () => {
    expect(findings(passagesOfPage('# A\n\nThe gateway goes\non without it.\n'))).toHaveLength(1);
    expect(findings(passagesOfPage('Use `mend`.\n\n```\ntold\n```\n'))).toEqual([]);
    const source = [
      '/** The gateway goes',
      ' * on. */',
      "const told = 'told';",
      "const message = 'the request was mended'; // and says so",
    ].join('\n');
    expect(findings(passagesOfSource('-- The key is\n-- mended.\nreturn 1'))).toHaveLength(1);
    expect(findings(passagesOfSource(source)).map((found) => found.split(':')[0])).toEqual([
      '1',
      '4',
      '4',
    ]);
  });
});

test.each(pages)('%s reads well', (page) => {
  expect(findings(passagesOfPage(readFileSync(join(root, page), 'utf8')))).toEqual([]);
});

test('comments and texts of the source read well', () => {
  for (const kind of ['gateway/', 'simulator/', 'bench/', 'lint/', 'supply/', 'oxlint.', 'knip.']) {
    expect(
      sources.some((file) => file.startsWith(kind)),
      kind,
    ).toBe(true);
  }
  expect(sources.some((file) => file.endsWith('.lua'))).toBe(true);
  const found = sources
    .filter((file) => file !== self)
    .flatMap((file) =>
      findings(passagesOfSource(readFileSync(join(root, file), 'utf8'))).map(
        (finding) => `${file}:${finding}`,
      ),
    );
  expect(found).toEqual([]);
});
