import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shareGateway } from '../behaviour/support.ts';
import { testKey } from '../support/gateway.ts';
import { isWithoutNginx, startNginx, type Nginx } from '../support/nginx.ts';
import { hiddenRequest, malformedRequests, wellFormedRequest } from './malformed-requests.ts';
import { raw } from './support.ts';

/** What nginx reads as one request without doubt, and writes anew for the gateway. */
const rewritten: readonly string[] = ['bare LF', 'an endless chunk extension'];

/** nginx has 501 for codings that it does not know. */
const refused = /^(?:|HTTP\/1\.1 (?:400|501) .*)$/s;

const meantPath = '/v1/chat/completions';
const hiddenPath = '/v1/messages';

describe.skipIf(isWithoutNginx).each(['on', 'off'])(
  'S-24 behind nginx with request buffering %s',
  (buffering) => {
    const shared = shareGateway({});
    const folder = mkdtempSync(join(tmpdir(), 'sluice-nginx-'));
    let nginx: Nginx | null = null;
    beforeAll(async () => {
      const ports = [Number(new URL(shared.gateway.url).port)];
      // A connection that is in order ends soon after its last answer.
      const directives = `proxy_request_buffering ${buffering}; keepalive_timeout 100ms;`;
      nginx = await startNginx({ folder, ports, directives });
    });
    afterAll(async () => {
      await nginx?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    /** Everything that came back, and which paths the upstream was asked for meanwhile. */
    const send = async (bytes: string): Promise<{ answer: string; asked: string[] }> => {
      const { simulator } = shared.gateway;
      simulator.clear();
      const answer = await raw(nginx?.port ?? 0, Buffer.from(bytes, 'latin1'));
      return { answer, asked: simulator.requests().map(({ path }) => path) };
    };

    it('a hidden request would be served by whoever takes it for one', async () => {
      const { answer, asked } = await send(wellFormedRequest(testKey) + hiddenRequest(testKey));
      expect(answer.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
      expect(asked).toEqual([meantPath, hiddenPath]);
    });

    it.each(malformedRequests(testKey))('%s', async (name, bytes) => {
      const { answer, asked } = await send(bytes);
      const isRewritten = rewritten.includes(name);
      expect(answer).toMatch(isRewritten ? /^HTTP\/1\.1 200 / : refused);
      expect(answer.match(/HTTP\/1\.1/g)?.length ?? 0).toBeLessThanOrEqual(1);
      expect(asked).toEqual(isRewritten ? [meantPath] : []);
      // Nothing was left on a connection that nginx keeps to the gateway and gives to the next client.
      const next = await send(wellFormedRequest(testKey));
      expect(next.answer).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n.*"chat\.completion"/s);
      expect(next.asked).toEqual([meantPath]);
    });
  },
);
