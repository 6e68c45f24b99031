import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { useSession } from '../app/session.ts';

interface Props {
  /** What it names, such as `key`. */
  readonly kind: string;
  readonly name: string;
  /** What stands there where the kind has no page of its own. Absent: the name. */
  readonly children?: ReactNode;
}

/** A name that opens the page of what it names, if the person has that page. */
export function NameLink({ kind, name, children = <Breakable text={name} /> }: Props) {
  const { permissions, teams } = useSession();
  const text = <Breakable text={name} />;
  switch (kind) {
    case 'model':
      return (
        <Link className="link" to="/models/$id" params={{ id: name }}>
          {text}
        </Link>
      );
    case 'key':
      return (
        <Link className="link" to="/keys" search={{ q: name }}>
          {text}
        </Link>
      );
    case 'channel':
      return !permissions.includes('channels.read') ? (
        children
      ) : (
        <Link className="link" to="/channels/$id" params={{ id: name }}>
          {text}
        </Link>
      );
    case 'user':
    case 'session':
      return !permissions.includes('users.read') ? (
        children
      ) : (
        <Link className="link" to="/people/$id" params={{ id: name }}>
          {text}
        </Link>
      );
    case 'team': {
      const isOwner = teams.some((team) => team.name === name && team.role === 'owner');
      return !isOwner && !permissions.includes('users.read') ? (
        children
      ) : (
        <Link className="link" to="/teams/$id" params={{ id: name }}>
          {text}
        </Link>
      );
    }
    default:
      return children;
  }
}

/** A name or an address that is broken behind its signs before it is broken within a word. */
export function Breakable({ text }: { readonly text: string }) {
  return text.split(/(?<=[@._/])/).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
