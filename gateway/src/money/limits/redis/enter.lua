-- The first call on a connection, and after a slow reply. It writes, because a read-only or full Redis is no use.
-- The epoch has one name per life of the data. It ends when Redis has lost all data, or those since a batch of this node.
-- KEYS: epoch, the number of this node's last batch. ARGV: the epoch that the node knows ('' none), number of this call,
-- number of the last batch with a reply, a name for a new epoch, time.
-- Replies the epoch and the time. No reply: a later call came first.
local number, answered, now = tonumber(ARGV[2]), tonumber(ARGV[3]), clock(ARGV[5])
local epoch = redis.call('GET', KEYS[1])
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
if last >= number then return {} end
if not epoch or (epoch == ARGV[1] and last < answered) then
  epoch = ARGV[4]
  redis.call('SET', KEYS[1], epoch)
end
redis.call('SET', KEYS[2], ARGV[2], 'PX', nodeKept)
return {epoch, whole(now)}
