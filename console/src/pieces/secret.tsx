import { CopyButton } from './copy-button.tsx';

/** A secret that is shown this once. Of a click, all of it is selected. */
export function Secret({
  id,
  text,
  copy,
}: {
  readonly id: string;
  readonly text: string;
  /** The words of the button. */
  readonly copy: string;
}) {
  return (
    <div className="secret">
      <code className="code" id={id}>
        {text}
      </code>
      <CopyButton text={text} label={copy} />
    </div>
  );
}
