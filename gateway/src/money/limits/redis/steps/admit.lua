-- Counts a request against every rate and takes a slot of every concurrency limit, or does neither.
-- keys: one per limit.
-- values: id, milliseconds a slot is kept unless renewed, then per limit: kind ('slots', 'exact', 'parts'), limit,
-- window in milliseconds.
-- Replies {'admitted'} or {'denied', microseconds to wait per limit, 0 for those with room}.
local id, lease = values[1], values[2]

-- The server's clock went backwards: what was counted keeps its distances and ends now, so that nothing leaves
-- early and nothing stays for as long as the step was.
local function rewind(key, entries, step, span)
  for at, entry in ipairs(entries) do
    local time, count = string.match(entry, '^(%d+)(.*)$')
    entries[at] = whole(tonumber(time) - step) .. count
  end
  return rewrite(key, entries, span)
end

-- What is dated to the end of a part that has not ended is no time yet.
local function toTimes(key, span)
  local entries = redis.call('LRANGE', key, 0, -1)
  if #entries == 0 or partOf(entries[#entries]) > now then return end
  for at, entry in ipairs(entries) do entries[at] = whole(partOf(entry)) end
  rewrite(key, entries, span)
end

-- A list of 'time:count', one for each part of the span in which something came, dated to the end of the part.
-- Replies whether any count is above one as well.
local function partsWait(key, limit, span)
  local entries = redis.call('LRANGE', key, 0, -1)
  local last = entries[#entries]
  if last and not hasCounts(last) then
    entries = rewrite(key, toParts(entries, span), span)
    last = entries[#entries]
  end
  local early = last and partOf(last) - span / parts - now or 0
  if early > 0 then entries = rewind(key, entries, early, span) end
  local at, total, wait = 1, 0, 0
  while entries[at] and now - partOf(entries[at]) >= span do
    redis.call('LPOP', key)
    at = at + 1
  end
  local left = #entries - at + 1
  -- The times have as many digits in all of them. Matching each entry would be most of what admitting takes.
  local countFrom = last and hasCounts(last) + 1
  for live = at, #entries do total = total + string.sub(entries[live], countFrom) end
  local tooMany = total - limit + 1
  while tooMany > 0 do
    local time, count = partOf(entries[at])
    tooMany, wait, at = tooMany - count, time + span - now, at + 1
  end
  return wait, total > left
end

-- A list of times.
local function exactWait(key, limit, span)
  if limit == 0 then return span end
  local last = redis.call('LINDEX', key, -1)
  if hasCounts(last) then
    local wait, isShared = partsWait(key, limit, span)
    if not isShared then toTimes(key, span) end
    return wait
  end
  if last and tonumber(last) > now then
    rewind(key, redis.call('LRANGE', key, 0, -1), tonumber(last) - now, span)
  end
  local decisive = redis.call('LINDEX', key, -limit)
  return decisive and math.max(tonumber(decisive) + span - now, 0) or 0
end

local function exactAdd(key, span)
  local entry = whole(now)
  -- What left the span goes, more of it than comes.
  for _ = 1, 4 do
    local first = redis.call('LINDEX', key, 0)
    if hasCounts(first) then
      entry = whole(math.max(now, (partOf(redis.call('LINDEX', key, -1))))) .. ':1'
      break
    end
    if not first or now - tonumber(first) < span then break end
    redis.call('LPOP', key)
  end
  redis.call('RPUSH', key, entry)
  keep(key, span)
end

local function partsAdd(key, span)
  local part = span / parts
  local time = whole((math.floor(now / part) + 1) * part)
  local last = redis.call('LINDEX', key, -1)
  local latest, count
  if last then latest, count = partOf(last) end
  if latest and latest >= tonumber(time) then
    redis.call('LSET', key, -1, whole(latest) .. ':' .. whole(count + 1))
  else
    redis.call('RPUSH', key, time .. ':1')
    -- Long enough for all that is added to this part.
    keep(key, span)
  end
end

local function slotWait(key, limit)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', whole(now))
  if redis.call('ZCARD', key) < limit or redis.call('ZSCORE', key, id) then return 0 end
  return 1000000
end

local waits, denied = {'denied'}, false
for at = 1, #keys do
  local key, kind = keys[at], values[at * 3]
  local limit, span = tonumber(values[at * 3 + 1]), tonumber(values[at * 3 + 2]) * 1000
  local wait
  if kind == 'slots' then wait = slotWait(key, limit)
  elseif kind == 'exact' then wait = exactWait(key, limit, span)
  else wait = partsWait(key, limit, span) end
  if wait > 0 then denied = true end
  waits[#waits + 1] = whole(wait)
end
if denied then return waits end

for at = 1, #keys do
  local key, kind, window = keys[at], values[at * 3], values[at * 3 + 2]
  if kind == 'slots' then
    redis.call('ZADD', key, whole(now + lease * 1000), id)
    redis.call('PEXPIRE', key, lease)
  else
    if kind == 'exact' then exactAdd(key, window * 1000) else partsAdd(key, window * 1000) end
  end
end
return {'admitted'}
