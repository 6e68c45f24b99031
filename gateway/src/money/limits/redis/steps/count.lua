-- Counts what a node admitted while it was alone, whatever the limit.
-- keys: a window. values: its length in milliseconds, then in pairs: microseconds ago, how many.
local key, span = keys[1], values[1] * 1000
local part, counts, times = span / parts, {}, {}

local function add(time, count)
  if not counts[time] then times[#times + 1] = time end
  counts[time] = (counts[time] or 0) + count
end

local before = redis.call('LRANGE', key, 0, -1)
if not hasCounts(before[#before]) then before = toParts(before, span) end
for _, entry in ipairs(before) do add(partOf(entry)) end
for at = 2, #values, 2 do add(math.ceil((now - values[at]) / part) * part, tonumber(values[at + 1])) end
table.sort(times)
local entries = {}
for at, time in ipairs(times) do entries[at] = whole(time) .. ':' .. whole(counts[time]) end
rewrite(key, entries, span)
return {'counted'}
