import { afterAll, expect, test } from 'vitest';
import { startOwnUpstream } from '../support/own-upstream.ts';
import { openVideoUpstream } from '../support/video-upstream.ts';
import { hasBrowser, startJourney } from './browser.ts';
import { workedOut } from './receipt-lines.ts';
import { config, sendEveryKind } from './receipt-requests.ts';

/*
 * Whatever a request cost, its page shows how that comes about: the test works the figures out from the configuration
 * and from what the upstream reported, and they are those of the page, to the nano-USD.
 */

const upstream = await startOwnUpstream();
afterAll(() => upstream.close());
const videos = await openVideoUpstream();
afterAll(() => videos.close());
const { gateway, opened } = await startJourney({
  config: config.replaceAll('UPSTREAM', upstream.url).replaceAll('VIDEOS', videos.url),
});

test.runIf(hasBrowser)(
  'every receipt can be worked out from the prices and from what was used',
  { timeout: 180_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems } = opened;
    const kinds = await sendEveryKind({ gateway, upstream, videos });
    expect(kinds.length).toBeGreaterThanOrEqual(50);
    const rows = new Map((await gateway.usage()).map((row) => [row.id, row]));

    await signInAt('/requests', 'admin@example.com');
    await page.getByRole('heading', { name: 'Requests' }).first().waitFor();
    for (const kind of kinds) {
      const { name, id, factor = '1', isCapped = false, says = [] } = kind;
      await page.goto(`${gateway.url}/console/requests/${id}`);
      await page.getByRole('heading', { name: 'Changed on the way' }).waitFor();
      const shown = await page.evaluate<Page>(readPage);
      for (const words of says)
        expect([name, shown.text]).toEqual([name, expect.stringContaining(words)]);
      const row = rows.get(id);
      if (kind.lines === null) {
        expect([name, shown.receipt, row?.cost ?? null]).toEqual([name, null, null]);
        continue;
      }
      const counts = { input: row?.tokens.input ?? 0, output: row?.tokens.output ?? 0 };
      const lines = typeof kind.lines === 'function' ? kind.lines(counts) : kind.lines;
      const expected = workedOut(lines, factor);
      expect({ name, ...shown.receipt }).toEqual({
        name,
        lines: expected.lines,
        sum: expected.sum,
        ...(factor !== '1' && { factor, product: expected.product }),
        charged: isCapped ? shown.held : expected.total,
      });
      // The large figure, the table and the row are one.
      expect([name, shown.price, Number(row?.cost)]).toEqual([
        name,
        `${shown.receipt?.charged ?? ''} USD`,
        Number(shown.receipt?.charged),
      ]);
    }
    expect(await axeProblems()).toEqual([]);
    expect(complaints).toEqual([]);
  },
);

interface Page {
  readonly text: string;
  readonly price: string;
  readonly held: string;
  readonly receipt: {
    readonly lines: readonly (readonly string[])[];
    readonly sum: string;
    /** Of the group, and what it makes of the sum. */
    readonly factor?: string;
    readonly product?: string;
    readonly charged: string;
  } | null;
}

/** In the browser: what a person reads. */
const readPage = `(() => {
  const read = (element) => element.innerText.replaceAll(/\\s+/g, ' ').trim();
  const text = read(document.body);
  const price = read([...document.querySelectorAll('p')].find((each) => each.previousElementSibling?.innerText === 'Cost'));
  const fact = (name) => {
    const term = [...document.querySelectorAll('dt')].find((each) => read(each) === name);
    return term === undefined ? '' : read(term.nextElementSibling);
  };
  const held = fact('Hold').split(',')[0];
  const table = document.querySelector('section table:has(tfoot)');
  if (table === null) return { text, price, held, receipt: null };
  const cells = (row) => [...row.cells].map(read);
  const lines = [...table.tBodies[0].rows].map((row) => {
    const heading = row.cells[0].cloneNode(true);
    heading.querySelector('small')?.remove();
    const [, quantity, , rate, , amount] = cells(row);
    return [heading.textContent.trim(), quantity, rate, amount];
  });
  const foot = [...table.tFoot.rows].map(cells);
  const amount = (row) => row?.at(-2);
  const group = foot.length === 3 ? { factor: foot[1][3], product: amount(foot[1]) } : {};
  return { text, price, held, receipt: { lines, sum: amount(foot[0]), ...group, charged: amount(foot.at(-1)) } };
})()`;
