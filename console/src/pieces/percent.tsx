import { useFormats } from '../format/numbers.ts';

/** A share of 1 in a column of them, in percent: with the room of a place where it has none, so that all stand on the point. */
export function Percent({ of: share }: { readonly of: number }) {
  const text = useFormats().percent(share);
  return (
    <>
      {text} %
      {!text.includes('.') && (
        <span className="ghost" aria-hidden="true">
          .0
        </span>
      )}
    </>
  );
}
