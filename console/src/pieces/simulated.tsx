import { Link } from '@tanstack/react-router';
import { useSession } from '../app/session.ts';
import { useWords } from '../words/index.ts';

/** Says that no answer comes from a model, with the way to a real upstream for whoever may add one. */
export function Simulated() {
  const say = useWords();
  const mayAdd = useSession().permissions.includes('channels.write');
  return (
    <p className="simulated" role="status">
      <span className="strong">{say('channels.simulated')}</span> {say('channels.simulatedHint')}{' '}
      {mayAdd && (
        <Link className="link" to="/channels/new">
          {say('channels.add')}
        </Link>
      )}
    </p>
  );
}
