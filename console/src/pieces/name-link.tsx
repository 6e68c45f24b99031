import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useSession } from '../app/session.ts';

interface Props {
  /** What it names, such as `key`. */
  readonly kind: string;
  readonly name: string;
  /** What stands there where the kind has no page of its own. */
  readonly children: ReactNode;
}

/** A name that opens the page of what it names, if the person has that page. */
export function NameLink({ kind, name, children }: Props) {
  const { permissions, teams } = useSession();
  switch (kind) {
    case 'model':
      return (
        <Link className="link" to="/models/$id" params={{ id: name }}>
          {name}
        </Link>
      );
    case 'key':
      return (
        <Link className="link" to="/keys" search={{ q: name }}>
          {name}
        </Link>
      );
    case 'channel':
      return !permissions.includes('channels.read') ? (
        children
      ) : (
        <Link className="link" to="/channels/$id" params={{ id: name }}>
          {name}
        </Link>
      );
    case 'user':
    case 'session':
      return !permissions.includes('users.read') ? (
        children
      ) : (
        <Link className="link" to="/people/$id" params={{ id: name }}>
          {name}
        </Link>
      );
    case 'team': {
      const isOwner = teams.some((team) => team.name === name && team.role === 'owner');
      return !isOwner && !permissions.includes('users.read') ? (
        children
      ) : (
        <Link className="link" to="/teams/$id" params={{ id: name }}>
          {name}
        </Link>
      );
    }
    default:
      return children;
  }
}
