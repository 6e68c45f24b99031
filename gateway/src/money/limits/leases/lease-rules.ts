/** Milliseconds. */
export const leaseRules = Object.freeze({
  /** Twice the patience: the last command of a waiting request finds its ticket in force. */
  ticketMs: 500,
  silentMs: 30_000,
  restateMs: 5_000,
  /** How long the other nodes may take to give back what is idle. */
  patienceMs: 250,
  /** The longest wait of a request, behind others whose turn comes first. */
  longestMs: 2_000,
  /** A request that waits asks again after this time, if no notification comes. */
  askAgainMs: 50,
  wantsPerCommand: 64,
  lookEveryMs: 2_000,
  /** How long changes of limits are gathered before the next look. */
  gatherChangesMs: 20,
  /** How long the database is not asked after it failed; about a meter, after a command failed there. */
  awayMs: 1_000,
  /** For as long as this after the first failure nobody is refused, since a database may be back soon: it restarts. */
  restartMs: 3_000,
  /** How often it is asked meanwhile. */
  restartAskMs: 100,
  /** A failure that is older says nothing about the database any more. */
  recentMs: 10_000,
});
