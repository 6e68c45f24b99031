-- Takes steps one after the other. Each is all-or-nothing by itself: what goes wrong in one is its reply, and no matter
-- of the others.
-- KEYS: epoch, the number of this node's last batch, then the keys of all steps. ARGV: epoch, number of this batch,
-- number of the last one with a reply, the latest time to take it ('' for any), time, then per step: its name, how many
-- keys it has, how many values, and those values.
-- Replies 'done', the time, and what each step replies. Nothing was done if it replies
-- 'lost': the data are not those that the node knows: Redis was emptied, or went back in time,
-- 'late': the node waits for it no longer,
-- 'stale': a later batch of the node came first.
local number, answered, now = tonumber(ARGV[2]), tonumber(ARGV[3]), clock(ARGV[5])
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {'lost', whole(now)} end
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
if last < answered then return {'lost', whole(now)} end
if last >= number then return {'stale', whole(now)} end
if ARGV[4] ~= '' and now > tonumber(ARGV[4]) then return {'late', whole(now)} end
redis.call('SET', KEYS[2], ARGV[2], 'PX', nodeKept)
local replies, nextKey, nextValue = {'done', whole(now)}, 3, 6
while ARGV[nextValue] do
  local step = steps[ARGV[nextValue]]
  local firstKey, firstValue = nextKey, nextValue + 3
  nextKey, nextValue = firstKey + ARGV[nextValue + 1], firstValue + ARGV[nextValue + 2]
  local keys, values = {unpack(KEYS, firstKey, nextKey - 1)}, {unpack(ARGV, firstValue, nextValue - 1)}
  local isDone, reply = pcall(step, keys, values, now)
  if not isDone and type(reply) ~= 'table' then reply = redis.error_reply(reply) end
  replies[#replies + 1] = reply
end
return replies
