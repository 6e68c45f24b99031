-- Takes steps one after the other. Each is all-or-nothing by itself: what goes wrong in one is its reply, and no matter
-- of the others.
-- KEYS: epoch, then the keys of all steps. ARGV: epoch, time, then per step: its name, how many keys it has, how many
-- values, and those values.
-- Replies what each step does, or {'lost'} when this is not the epoch that the node knows: Redis has been emptied.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {'lost'} end
-- A full Redis is no use: it refuses the first write.
redis.call('SET', KEYS[1], ARGV[1])
local now = clock(ARGV[2])
local replies, nextKey, nextValue = {}, 2, 3
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
