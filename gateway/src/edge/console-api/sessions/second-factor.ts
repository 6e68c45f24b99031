import type { FastifyInstance } from 'fastify';
import {
  type Administration,
  beginSecondFactor,
  enableSecondFactor,
  endSecondFactor,
} from '#administration/index.ts';
import { kinds } from '#config/index.ts';
import { originOf } from '#http/index.ts';
import {
  countRecoveryCodes,
  findSecondFactor,
  findUser,
  isLinked,
  otpauthUri,
} from '#identity/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { contract } from '../contract/index.ts';
import { fromDatabase } from '../from-database.ts';
import type { OidcSettings } from '../oidc/provider.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';
import { throwRefusal } from '../writes.ts';
import { type createProofs, wrongCode } from './proof.ts';

export interface SecondFactorOptions extends ServeOptions {
  readonly database: OpenDatabase;
  readonly administration: Administration;
  readonly oidc: OidcSettings | null;
  readonly assertOwner: ReturnType<typeof createProofs>['assertOwner'];
}

/** People's own second factors. */
export function secondFactorRoutes(scope: FastifyInstance, options: SecondFactorOptions): void {
  const { database, administration, oidc, assertOwner } = options;
  const refuse = (error: unknown) => throwRefusal(kinds.user, error);

  serveRoute(scope, contract.readSecondFactor, options, async ({ caller }) =>
    fromDatabase(async () => {
      const { id } = caller.session.user;
      const { kysely } = database;
      const since = (await findSecondFactor(kysely, id))?.confirmedAt ?? null;
      return {
        body: {
          enabled: since !== null,
          since: since === null ? null : new Date(since).toISOString(),
          recovery_codes: await countRecoveryCodes(kysely, id),
          has_password: ((await findUser(kysely, id))?.passwordHash ?? null) !== null,
          connected: oidc?.issuer != null && (await isLinked(kysely, id, oidc.issuer)),
        },
      };
    }),
  );

  serveRoute(scope, contract.beginSecondFactor, options, async ({ request, body, caller }) => {
    await assertOwner(request, caller, body);
    const { user } = caller.session;
    const secret = await fromDatabase(() =>
      beginSecondFactor(administration, caller.actor, user).catch(refuse),
    );
    const { host } = new URL(originOf(request.raw, request.server.publicUrl));
    return { body: { secret, uri: otpauthUri(secret, user.email, host) } };
  });

  serveRoute(scope, contract.enableSecondFactor, options, async ({ body, caller }) => {
    const { user } = caller.session;
    const codes = await fromDatabase(() =>
      enableSecondFactor(administration, caller.actor, user, body.code).catch(refuse),
    );
    if (codes === null) throw wrongCode();
    return { body: { recovery_codes: codes } };
  });

  serveRoute(scope, contract.endSecondFactor, options, async ({ request, body, caller }) => {
    await assertOwner(request, caller, body);
    const { id } = caller.session.user;
    await fromDatabase(() => endSecondFactor(administration, caller.actor, id).catch(refuse));
    return { body: {} };
  });
}
