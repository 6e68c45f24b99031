import { useWords } from '../words/index.ts';

interface Props {
  /** Whether something was typed that did not wait. */
  readonly hadSecrets?: boolean;
  readonly onDiscard: () => void;
}

/** Says that a form begins with a draft that waited in the tab. */
export function KeptNote({ hadSecrets = false, onDiscard }: Props) {
  const say = useWords();
  return (
    <p className="second" role="status">
      {say('channels.draft.kept')}
      {hadSecrets && ` ${say('channels.draft.secrets')}`}{' '}
      <button type="button" className="link" onClick={onDiscard}>
        {say('channels.draft.discard')}
      </button>
    </p>
  );
}
