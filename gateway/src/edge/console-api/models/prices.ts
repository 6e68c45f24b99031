import { type DeclaredPrice, priceParts, type PriceUnit, writePrice } from '#config/index.ts';

interface PricePart {
  readonly part: string;
  readonly price: string;
  readonly unit: PriceUnit;
}

type Row = Readonly<Record<string, unknown>>;

/** The parts of a price, each as the file names and states it: `tiers.200000.input`, `image_tiers.2K`. */
export function pricesOf(price: DeclaredPrice): PricePart[] {
  const written = writePrice(price) as Row;
  return priceParts.flatMap(({ name, rows, columns }) => {
    const value = written[name];
    if (value === undefined) return [];
    const figures = columns.flatMap(({ name: figure, form }) =>
      form === 'text' || form === 'count' ? [] : [{ figure, unit: form }],
    );
    const row = (path: readonly string[], values: Row): PricePart[] =>
      figures.flatMap(({ figure, unit }) => {
        const text = values[figure];
        const ending = figures.length === 1 ? [] : [figure];
        return text === undefined
          ? []
          : [{ part: [...path, ...ending].join('.'), price: text as string, unit }];
      });
    if (rows === 'value') return row([name], { '': value });
    if (rows === 'list') {
      const key = columns[0]?.name ?? '';
      return (value as readonly Row[]).flatMap((each) => row([name, String(each[key])], each));
    }
    return Object.entries(value as Row).flatMap(([key, each]) =>
      row([name, key], typeof each === 'object' ? (each as Row) : { '': each }),
    );
  });
}
