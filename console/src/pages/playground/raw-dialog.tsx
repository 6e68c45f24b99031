import { useSession } from '../../app/session.ts';
import { Dialog, DialogEnd } from '../../pieces/dialog.tsx';
import { Snippet } from '../../pieces/snippet.tsx';
import { curlOf } from '../../snippets/curl.ts';
import { useWords } from '../../words/index.ts';
import type { Answer } from './run.ts';

/** A request as it was sent, without the key, and everything that came back. */
export function RawDialog({
  answer,
  onClose,
}: {
  readonly answer: Answer;
  readonly onClose: () => void;
}) {
  const say = useWords();
  const { gateway } = useSession();
  const { path, body, events } = answer;
  return (
    <Dialog title={say('playground.rawTitle', { model: answer.model })} onClose={onClose}>
      <Snippet text={curlOf({ url: gateway.url, path, body, isStreamed: true })} label="curl" />
      <h3 className="title">{say('playground.request')}</h3>
      <Snippet text={JSON.stringify(body, null, 2)} label={say('playground.request')} />
      <h3 className="title">
        {say('playground.events')} <span className="quiet">{events.length}</span>
      </h3>
      {events.length > 0 && <Snippet text={events.join('\n')} label={say('playground.events')} />}
      <DialogEnd word={say('playground.close')} onClose={onClose} />
    </Dialog>
  );
}
