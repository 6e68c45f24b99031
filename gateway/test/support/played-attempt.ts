import type { UpstreamClient, UpstreamListener } from '#upstream/index.ts';

/** A client of a stream whose sink a test watches. */
export function playClient() {
  const client = {
    headSent: false,
    halfClosed: false,
    disconnected: false,
    failedWith: null,
    fail: () => {},
    onDrain: () => {},
    onDisconnect: () => {},
    start: () => void (client.headSent = true),
    write: () => true,
    end: () => {},
  };
  return client;
}

/**
 * An upstream that takes one request; its events come from the test, through `listener`.
 * @param sent whether it has had the request
 */
export function playUpstream(sent = true) {
  let listener: UpstreamListener | null = null;
  const played = {
    isPaused: false,
    isAborted: false,
    client: {
      send(_request, given) {
        listener = given;
        return {
          isSent: sent,
          pause: () => void (played.isPaused = true),
          resume: () => void (played.isPaused = false),
          abort: () => void (played.isAborted = true),
        };
      },
      close: async () => {},
    } satisfies UpstreamClient as UpstreamClient,
    get listener(): UpstreamListener {
      if (listener === null) throw new Error('nothing was sent');
      return listener;
    },
  };
  return played;
}
