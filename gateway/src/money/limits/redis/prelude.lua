-- What every script begins with.
--
-- Amounts are nano-USD of up to 64 bits and Lua's numbers are doubles, so an amount is a pair {high, low} of
-- high * 1e9 + low with 0 <= low < 1e9: both are whole numbers far below 2^53. They are stored as decimal text.
local base = 1000000000

-- Microseconds. `given` is for tests; '' else.
local function clock(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

local function whole(number)
  return string.format('%d', number)
end

local function amount(digits)
  local negative = string.sub(digits, 1, 1) == '-'
  if negative then digits = string.sub(digits, 2) end
  local high = tonumber(string.sub(digits, 1, -10)) or 0
  local low = tonumber(string.sub(digits, -9))
  if not negative then return {high, low} end
  if low == 0 then return {0 - high, 0} end
  return {0 - high - 1, base - low}
end

local function plus(a, b)
  local low = a[2] + b[2]
  if low >= base then return {a[1] + b[1] + 1, low - base} end
  return {a[1] + b[1], low}
end

local function minus(a, b)
  local low = a[2] - b[2]
  if low < 0 then return {a[1] - b[1] - 1, low + base} end
  return {a[1] - b[1], low}
end

local function less(a, b)
  return a[1] < b[1] or (a[1] == b[1] and a[2] < b[2])
end

local function digits(a)
  local high, low, sign = a[1], a[2], ''
  if high < 0 then
    sign = '-'
    high = 0 - high
    if low > 0 then high, low = high - 1, base - low end
  end
  if high == 0 then return sign .. whole(low) end
  return sign .. string.format('%d%09d', high, low)
end

-- A meter is a hash: `spent`, `held`, `since` (when `spent` was asked from the database), `doubt` (since when
-- something may be missing in `spent`), `short` (which hold is of less than its request may cost, while there is that
-- hold), and one field per hold.
-- A second key, a sorted set, has the ids of its holds by the time they are void.
local function voidExpired(meter, ends, now)
  local ids = redis.call('ZRANGEBYSCORE', ends, '-inf', whole(now), 'LIMIT', 0, 1000)
  if #ids == 0 then return end
  local held = amount(redis.call('HGET', meter, 'held') or '0')
  for _, id in ipairs(ids) do
    local of = redis.call('HGET', meter, 'of:' .. id)
    if of then held = minus(held, amount(of)) end
    redis.call('HDEL', meter, 'of:' .. id)
    redis.call('ZREM', ends, id)
  end
  redis.call('HSET', meter, 'held', digits(held))
  -- Nobody said what became of them: their node may have died with the money spent.
  redis.call('HSETNX', meter, 'doubt', whole(now))
end

-- Returns what is held with it, as text.
local function putHold(meter, ends, id, of, held, now, remaining)
  local sum = digits(plus(held, of))
  redis.call('HSET', meter, 'held', sum, 'of:' .. id, digits(of))
  redis.call('ZADD', ends, whole(now + remaining * 1000), id)
  -- Long enough for every settlement to be in the database when the meter is asked from there again.
  local keep = whole(remaining + 172800000)
  redis.call('PEXPIRE', meter, keep)
  redis.call('PEXPIRE', ends, keep)
  return sum
end
