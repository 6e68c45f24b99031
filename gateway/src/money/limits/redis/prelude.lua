-- What every script begins with.

-- Microseconds. `given` is for tests; '' else.
local function clock(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

local function whole(number)
  return string.format('%d', number)
end

-- How long Redis remembers a node that is silent. Milliseconds.
local nodeKept = 86400000

-- A window is one list whatever its limit, so that another limit finds what was admitted before it: of times, or of
-- 'time:count' from when the limit is no longer exact until it is again and no count above one is left.
local parts = 64

local function keep(key, span)
  redis.call('PEXPIRE', key, whole(span / 1000 * 1.1 + 1000))
end

local function rewrite(key, entries, span)
  redis.call('DEL', key)
  for _, entry in ipairs(entries) do redis.call('RPUSH', key, entry) end
  keep(key, span)
  return entries
end

local function hasCounts(entry)
  return entry and string.find(entry, ':', 1, true)
end

local function partOf(entry)
  local time, count = string.match(entry, '^(%d+):(%d+)$')
  return tonumber(time), tonumber(count)
end

-- Times as 'time:count'. What is an end already stays where it is, however often the limit changes.
local function toParts(times, span)
  local part, entries, latest, count = span / parts, {}, nil, 0
  for _, time in ipairs(times) do
    local ending = whole(math.ceil(time / part) * part)
    if ending ~= latest then latest, count, entries[#entries + 1] = ending, 0, '' end
    count = count + 1
    entries[#entries] = ending .. ':' .. count
  end
  return entries
end
