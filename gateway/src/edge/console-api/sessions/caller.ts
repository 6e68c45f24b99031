import type { FastifyRequest } from 'fastify';
import type { Actor } from '#administration/index.ts';
import type { Session, StoredAdminKey } from '#identity/index.ts';
import { type Permission, permissionsOf } from '../contract/index.ts';
import { ApiError } from '../errors.ts';

type ActorOfKind<Kind extends Actor['kind']> = Extract<Actor, { readonly kind: Kind }>;

/** Who calls: a person in a session, or a program with an admin key. */
export interface Caller {
  readonly permissions: readonly Permission[];
  /** As the audit log names the author of a change. Its id is that of the person or the admin key. */
  readonly actor: ActorOfKind<'user' | 'admin-key'>;
  /** Null: a program calls. */
  readonly session: Session | null;
}

/** A person in a session. */
export interface SignedInCaller extends Caller {
  readonly actor: ActorOfKind<'user'>;
  readonly session: Session;
  /** Of the session's cookie. */
  readonly secret: string;
}

/** A person as the audit log names the author of a change. */
export function actorOf(
  request: FastifyRequest,
  { id, email }: { readonly id: string; readonly email: string },
): ActorOfKind<'user'> {
  return { kind: 'user', id, email, ...originOf(request) };
}

export function personCaller(
  request: FastifyRequest,
  session: Session,
  secret: string,
): SignedInCaller {
  const { user } = session;
  return {
    permissions: permissionsOf(user.role),
    actor: actorOf(request, user),
    session,
    secret,
  };
}

export function programCaller(
  request: FastifyRequest,
  { id, name, role }: Pick<StoredAdminKey, 'id' | 'name' | 'role'>,
): Caller {
  return {
    permissions: permissionsOf(role),
    actor: { kind: 'admin-key', id, name, ...originOf(request) },
    session: null,
  };
}

const originOf = ({ server, raw, id: requestId }: FastifyRequest) => ({
  address: server.clientAddress(raw),
  requestId,
});

/**
 * The person who calls, where the role shows only what a person has to do with.
 * @throws ApiError `forbidden` for a program, which has no requests, keys and teams of its own
 */
export function personOf({ session }: Caller): Session['user'] {
  if (session !== null) return session.user;
  throw new ApiError('forbidden', 'the role of this admin key does not allow this');
}

/** @throws ApiError `forbidden` for a program that calls what is for people only */
export function requirePerson(caller: Caller): asserts caller is SignedInCaller {
  if (caller.session !== null) return;
  throw new ApiError('forbidden', 'an admin key cannot do this: a person has to sign in for it');
}
