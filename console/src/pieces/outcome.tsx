import { useWords } from '../words/index.ts';
import { Icon } from './icon.tsx';

interface Props {
  readonly outcome: string;
  readonly status: number;
  /** Names success too, which goes without saying in a list. */
  readonly isFull?: boolean;
}

const looks = {
  completed: { icon: 'tick', className: 'fine' },
  'client-left': { icon: 'left', className: 'neutral' },
  refused: { icon: 'ring', className: 'warned' },
  failed: { icon: 'cross', className: 'failed' },
} as const;

/** How a request ended: a shape, the status, and a word unless all went well. */
export function Outcome({ outcome, status, isFull = false }: Props) {
  const say = useWords();
  const known = Object.hasOwn(looks, outcome) ? (outcome as keyof typeof looks) : 'failed';
  const { icon, className } = looks[known];
  return (
    <span className={`outcome ${className}`}>
      <Icon name={icon} size={12} />
      {status}
      {(isFull || known !== 'completed') && ` ${say(`outcomes.${known}`)}`}
    </span>
  );
}
